import { flushSync } from 'svelte';
import type { BoardActions } from './board-actions.svelte';
import type { CardGrid, Position } from './board-model.svelte';

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
  #from: Position | undefined;
  readonly #actions: () => BoardActions;

  constructor(actions: () => BoardActions) {
    this.#actions = actions;
  }

  handleKey(event: KeyboardEvent): void {
    const { grid, cursor } = this.#actions();
    const card = (event.target as HTMLElement).closest<HTMLElement>('[data-ticket]');
    const id = card && (cursor.wantedId ?? card.dataset.ticket); // keys can be faster than frames
    if (!id || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = STEPS[event.key];
    if (step) {
      if (this.heldId === id) this.#moveCard(grid, id, step);
      else cursor.focusCard(grid.ticketBeside(id, ...step));
    } else if (event.key === ' ' && this.heldId === null) this.peek(id);
    else if ((event.key === ' ' || event.key === 'Enter') && this.heldId === id) this.#drop(grid, id);
    else if (event.key === 'Escape' && this.heldId === id) this.#cancel(grid, id);
    else if (event.key === 'Escape' && this.#actions().peekedId !== null) this.closePeek();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  handleFocusIn(event: FocusEvent): void {
    const actions = this.#actions();
    const card = event.target as HTMLElement;
    const id = card.dataset.ticket;
    if (id) actions.cursor.enter(id, card);
    const swimlane = card.closest<HTMLElement>('[data-swimlane]')?.dataset.swimlane;
    if (actions.swimlanes && swimlane !== undefined) actions.swimlanes.current = swimlane;
    if (actions.peekedId !== null && id) actions.peekedId = actions.cursor.focusedId;
  }

  /** Move the focus down or up in a lane: from the active card, else to where it last was, or the first card. */
  step(down: number): void {
    const { grid, activeId, cursor } = this.#actions();
    const last = cursor.id !== null && grid.positionOf(cursor.id) ? cursor.id : grid.firstTicket();
    cursor.focusCard(activeId === null ? last : grid.ticketBeside(activeId, 0, down));
  }

  /** Drop a held card where it is when the focus leaves it. */
  handleFocusOut(event: FocusEvent): void {
    const { grid, cursor } = this.#actions();
    const id = (event.target as HTMLElement).dataset.ticket;
    cursor.focusedId = null;
    // a moved card is rendered again and loses the focus for a moment, to no other element
    if (this.heldId && id === this.heldId && event.relatedTarget) this.#drop(grid, this.heldId);
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
    if (actions.cursor.focusedId === null) actions.cursor.focusCard(id);
  }

  /** Pick up the active card, to move it with the arrow keys. */
  pickUp(): void {
    const { board, grid, activeId: id, cursor } = this.#actions();
    if (id === null || this.heldId !== null || !board.find(id)) return;
    cursor.focusCard(id);
    this.heldId = id;
    this.#from = grid.positionOf(id);
    this.announcement = `Picked up ${board.find(id)!.ticket.title}. Use the arrow keys to move it, Space to drop it, Escape to cancel.`;
  }

  #moveCard(grid: CardGrid, id: string, step: [across: number, down: number]): void {
    const position = grid.positionBeside(id, ...step);
    if (!position || !grid.move(id, position)) return;
    const { name, tickets } = grid.listAround(id);
    const index = tickets.findIndex((each) => each.id === id);
    this.announcement = `${name}, ${index + 1} of ${tickets.length}`;
    flushSync(); // it is rendered again, and the next key must reach it
    const { cursor } = this.#actions();
    cursor.findCard(id)?.focus({ preventScroll: true });
    cursor.focusCard(id);
  }

  #drop(grid: CardGrid, id: string): void {
    const from = this.#from!;
    const now = grid.positionOf(id);
    this.heldId = null;
    this.announcement = `Dropped in ${grid.listAround(id).name}.`;
    const isMoved = (['column', 'before', 'swimlane'] as const).some((each) => now?.[each] !== from[each]);
    if (now && isMoved) void grid.saveMove(id, from);
  }

  #cancel(grid: CardGrid, id: string): void {
    grid.move(id, this.#from!);
    this.heldId = null;
    this.announcement = 'Move cancelled.';
    this.#actions().cursor.focusCard(id);
  }
}
