import type { Board } from './board.svelte';
import type { BoardActions } from './board-actions.svelte';
import type { Position } from './board-model.svelte';

const STEPS: Record<string, [across: number, down: number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/**
 * The board by keyboard: the arrow keys move the focus between cards, Space previews a card. `m` picks it up, the arrow
 * keys move it, Space or Enter drops it, Escape cancels. Each step is announced to screen readers.
 */
export class BoardKeyboard {
  heldId = $state<string | null>(null);
  announcement = $state('');
  /** The card that will get the focus: the virtual list must render it. */
  wantedId = $state<string | null>(null);
  #from: Position | undefined;
  readonly #actions: () => BoardActions;

  constructor(actions: () => BoardActions) {
    this.#actions = actions;
  }

  handleKey(event: KeyboardEvent): void {
    const { board } = this.#actions();
    const id = (event.target as HTMLElement).closest<HTMLElement>('[data-ticket]')?.dataset.ticket;
    if (!id || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = STEPS[event.key];
    if (step) {
      if (this.heldId === id) this.#moveCard(board, id, step);
      else this.focusCard(board.ticketBeside(id, ...step));
    } else if (event.key === ' ' && this.heldId === null) this.peek(id);
    else if ((event.key === ' ' || event.key === 'Enter') && this.heldId === id) this.#drop(board, id);
    else if (event.key === 'Escape' && this.heldId === id) this.#cancel(board, id);
    else if (event.key === 'Escape' && this.#actions().peekedId !== null) this.closePeek();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  handleFocusIn(event: FocusEvent): void {
    const actions = this.#actions();
    actions.focusedId = (event.target as HTMLElement).dataset.ticket ?? null;
    if (actions.peekedId !== null && actions.focusedId !== null) actions.peekedId = actions.focusedId;
    this.wantedId = null;
  }

  /** Move the focus down or up in a lane: from the active card, else to the first one of the board. */
  step(down: number): void {
    const { board, activeId } = this.#actions();
    if (activeId !== null) this.focusCard(board.ticketBeside(activeId, 0, down));
    else this.focusCard(board.lanes.find((lane) => lane.tickets.length > 0)?.tickets[0]!.id);
  }

  findCard(id: string | null | undefined): HTMLElement | null {
    return id ? document.querySelector(`[data-ticket="${CSS.escape(id)}"]`) : null;
  }

  /** Drop a held card where it is when the focus leaves it. */
  handleFocusOut(event: FocusEvent): void {
    const { board } = this.#actions();
    const id = (event.target as HTMLElement).dataset.ticket;
    this.#actions().focusedId = null;
    // a moved card is rendered again and loses the focus for a moment, to no other element
    if (this.heldId && id === this.heldId && event.relatedTarget) this.#drop(board, this.heldId);
  }

  /** Preview a ticket beside the board, or close the preview of the same one. It follows the focus. */
  peek(id: string | null): void {
    const actions = this.#actions();
    if (id === null || id === actions.peekedId) return this.closePeek();
    actions.peekedId = id;
    this.announcement = `Preview of ${actions.board.find(id)?.ticket.key}`;
  }

  /** Close the preview; the card keeps the focus, or gets it back. */
  closePeek(): void {
    const actions = this.#actions();
    if (actions.peekedId === null) return;
    const id = actions.peekedId;
    actions.peekedId = null;
    this.announcement = 'Preview closed';
    if (actions.focusedId === null) this.focusCard(id);
  }

  /** Pick up the active card, to move it with the arrow keys. */
  pickUp(): void {
    const { board, activeId: id } = this.#actions();
    if (id === null || this.heldId !== null || !board.find(id)) return;
    this.focusCard(id);
    this.heldId = id;
    this.#from = board.positionOf(id);
    this.announcement = `Picked up ${board.find(id)!.ticket.title}. Use the arrow keys to move it, Space to drop it, Escape to cancel.`;
  }

  #moveCard(board: Board, id: string, step: [across: number, down: number]): void {
    const position = board.positionBeside(id, ...step);
    if (!position || !board.move(id, position)) return;
    const now = board.find(id)!;
    this.announcement = `${now.lane.column.name}, ${now.index + 1} of ${now.lane.tickets.length}`;
    this.focusCard(id);
  }

  #drop(board: Board, id: string): void {
    const from = this.#from!;
    const now = board.positionOf(id);
    this.heldId = null;
    this.announcement = `Dropped in ${board.find(id)?.lane.column.name}.`;
    if (now && (now.column !== from.column || now.before !== from.before)) void board.saveMove(id, from);
  }

  #cancel(board: Board, id: string): void {
    board.move(id, this.#from!);
    this.heldId = null;
    this.announcement = 'Move cancelled.';
    this.focusCard(id);
  }

  /** Focus a card, wherever the lane is scrolled to. */
  focusCard(id: string | undefined): void {
    if (id === undefined) return;
    this.wantedId = id;
    requestAnimationFrame(() => {
      const card = this.findCard(id);
      card?.focus({ preventScroll: true });
      card?.closest('li')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    });
  }
}
