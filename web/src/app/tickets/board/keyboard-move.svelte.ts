import type { Board, Place } from './board.svelte';

const STEPS: Record<string, [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/**
 * The board by keyboard: arrows go from card to card; Space takes a card up, arrows carry it, Space or Enter
 * puts it down, Escape puts it back. What happens is said aloud.
 */
export class Carrying {
  held = $state<string | null>(null);
  said = $state('');
  /** The card that has the focus, or is to get it: it must be in the document. */
  focused = $state<string | null>(null);
  #from: Place | undefined;
  readonly #board: () => Board | undefined;
  readonly #mayWrite: () => boolean;

  constructor(board: () => Board | undefined, mayWrite: () => boolean) {
    this.#board = board;
    this.#mayWrite = mayWrite;
  }

  press(event: KeyboardEvent): void {
    const board = this.#board();
    const id = (event.target as HTMLElement).closest<HTMLElement>('[data-ticket]')?.dataset.ticket;
    if (!board || !id || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = STEPS[event.key];
    if (step) {
      if (this.held === id) this.#carry(board, id, step);
      else this.#focus(neighbour(board, id, step));
    } else if (event.key === ' ' && this.held === null && this.#mayWrite()) this.#take(board, id);
    else if ((event.key === ' ' || event.key === 'Enter') && this.held === id) this.#put(board, id);
    else if (event.key === 'Escape' && this.held === id) this.#back(board, id);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Keep the card that has the focus. */
  enter(event: FocusEvent): void {
    this.focused = (event.target as HTMLElement).dataset.ticket ?? null;
  }

  /** Put a card down where it is when the focus leaves it. */
  leave(event: FocusEvent): void {
    const board = this.#board();
    const id = (event.target as HTMLElement).dataset.ticket;
    // a card that is carried on is drawn anew, and loses the focus for a moment
    if (board && this.held && id === this.held && event.relatedTarget) this.#put(board, this.held);
  }

  #take(board: Board, id: string): void {
    this.held = id;
    this.#from = board.placeOf(id);
    this.said = `Picked up ${board.find(id)!.ticket.title}. Arrow keys move it, Space puts it down, Escape cancels.`;
  }

  #carry(board: Board, id: string, [across, down]: [number, number]): void {
    const found = board.find(id)!;
    let place: Place | undefined;
    if (across !== 0) {
      const lane = board.lanes[board.lanes.indexOf(found.lane) + across];
      if (lane) place = { column: lane.column.id, before: lane.tickets[found.index]?.id ?? null };
    } else {
      const tickets = found.lane.tickets;
      const target = found.index + down;
      if (target >= 0 && target < tickets.length)
        place = { column: found.lane.column.id, before: tickets[down > 0 ? target + 1 : target]?.id ?? null };
    }
    if (!place || !board.shift(id, place)) return;
    const now = board.find(id)!;
    this.said = `${now.lane.column.name}, ${now.index + 1} of ${now.lane.tickets.length}`;
    this.#focus(id);
  }

  #put(board: Board, id: string): void {
    const from = this.#from!;
    const now = board.placeOf(id);
    this.held = null;
    this.said = `Put down in ${board.find(id)?.lane.column.name}.`;
    if (now && (now.column !== from.column || now.before !== from.before)) void board.settle(id, from);
  }

  #back(board: Board, id: string): void {
    board.shift(id, this.#from!);
    this.held = null;
    this.said = 'Put back.';
    this.#focus(id);
  }

  #focus(id: string | undefined): void {
    if (id === undefined) return;
    this.focused = id;
    requestAnimationFrame(() => {
      const card = document.querySelector<HTMLElement>(`[data-ticket="${CSS.escape(id)}"]`);
      card?.focus();
      card?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    });
  }
}

function neighbour(board: Board, id: string, [across, down]: [number, number]): string | undefined {
  const found = board.find(id);
  if (!found) return undefined;
  if (down !== 0) return found.lane.tickets[found.index + down]?.id;
  for (let at = board.lanes.indexOf(found.lane) + across; board.lanes[at]; at += across) {
    const tickets = board.lanes[at]!.tickets;
    if (tickets.length > 0) return tickets[Math.min(found.index, tickets.length - 1)]!.id;
  }
  return undefined;
}
