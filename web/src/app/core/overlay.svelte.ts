/** The dialog of the shell that is open, whichever part of the page opens it. */
class Overlay {
  open = $state<'palette' | 'help' | 'new-ticket' | null>(null);
  /** The title that the new-ticket dialog begins with. */
  title = '';
  /** What is typed into the palette. */
  query = $state('');

  createTicket(title = ''): void {
    this.title = title;
    this.open = 'new-ticket';
  }

  close = (): void => {
    this.open = null;
    this.title = '';
    this.query = '';
  };

  /** Keep a key that is typed into the palette while it is loaded. */
  keepTyped(event: KeyboardEvent): void {
    const isCharacter = event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey;
    if (this.open !== 'palette' || !isCharacter || isInDialog(event.target)) return;
    event.preventDefault();
    this.query += event.key;
  }
}

function isInDialog(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('[role=dialog] input') !== null;
}

export const overlay = new Overlay();
