/** The dialog of the shell that is open, whichever part of the page opens it. */
class Overlay {
  open = $state<'palette' | 'help' | 'new-ticket' | null>(null);

  close = (): void => {
    this.open = null;
  };
}

export const overlay = new Overlay();
