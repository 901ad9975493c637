/** The dialog of the shell that is open, whichever part of the page opens it. */
class Overlay {
  open = $state<'palette' | 'help' | 'new-ticket' | null>(null);
  /** The title that the new-ticket dialog begins with. */
  title = '';

  createTicket(title = ''): void {
    this.title = title;
    this.open = 'new-ticket';
  }

  close = (): void => {
    this.open = null;
    this.title = '';
  };
}

export const overlay = new Overlay();
