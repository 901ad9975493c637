import type { Ticket } from '../../../../generated/api';
import type { EditProperty } from '../fields';
import type { Board } from './board.svelte';
import type { CardGrid } from './board-model.svelte';
import type { CardAction } from './card/card-actions';
import { Cursor } from './cursor.svelte';
import type { Swimlanes } from './swimlanes/swimlanes.svelte';
import type { EditedList } from './ticket-edits';

const MAX_SELECTED = 50;

/** What is selected and pointed at on a board, and the picker that changes it. */
export class BoardActions implements EditedList {
  selected = $state.raw<ReadonlySet<string>>(new Set());
  /** The card under the mouse. */
  hoveredId = $state<string | null>(null);
  /** The ticket that the preview beside the board shows. */
  peekedId = $state<string | null>(null);
  picker = $state.raw<{
    property: EditProperty;
    tickets: Ticket[];
    anchor: HTMLElement;
  } | null>(null);
  /** Null while the board is shown in columns alone. */
  swimlanes = $state.raw<Swimlanes | null>(null);
  readonly board: Board;
  readonly cursor: Cursor;
  #last: string | null = null;

  constructor(board: Board) {
    this.board = board;
    this.cursor = new Cursor(() => this.grid, board.place.focusedId);
  }

  /** Where keys and drags move cards. */
  get grid(): CardGrid {
    return this.swimlanes ?? this.board;
  }

  /** The card that keys act on: the focused one, else the one under the mouse. */
  get activeId(): string | null {
    return this.cursor.wantedId ?? this.cursor.focusedId ?? this.hoveredId;
  }

  /** The tickets that an action is for: the selected ones, else the active one. */
  get targets(): Ticket[] {
    const ids = this.selected.size > 0 ? [...this.selected] : [this.activeId];
    return ids.flatMap((id) => (id === null ? [] : (this.board.find(id)?.ticket ?? [])));
  }

  toggle(id: string | null): void {
    if (id === null) return;
    const selected = new Set(this.selected);
    if (!selected.delete(id) && selected.size < MAX_SELECTED) selected.add(id);
    this.selected = selected;
    this.#last = id;
  }

  /** Select the cards from the last selected one to this one, in the same lane. */
  extend(id: string | null): void {
    const ids = id === null ? [] : this.grid.listAround(id).tickets.map((each) => each.id);
    const ends = [ids.indexOf(this.#last ?? ''), ids.indexOf(id ?? '')].sort((one, other) => one - other);
    const [start, end] = ends as [number, number];
    if (start < 0) return this.toggle(id);
    this.selected = new Set([...this.selected, ...ids.slice(start, end + 1)].slice(0, MAX_SELECTED));
  }

  clear(): void {
    this.selected = new Set();
  }

  /** Archive tickets or send them to agents, or open the picker for what is changed. */
  run(action: CardAction, tickets: Ticket[], anchor: HTMLElement | null): void {
    if (tickets.length === 0) return;
    if (action !== 'archive' && action !== 'agent') {
      if (anchor) this.picker = { property: action, tickets, anchor };
      return;
    }
    this.leave(tickets);
    if (action === 'archive') this.clear();
    void import('./ticket-edits').then(
      ({ ARCHIVE, editTickets, sendToAgent }) =>
        action === 'archive'
          ? editTickets(tickets, ARCHIVE, this)
          : editTickets(tickets.toReversed(), sendToAgent(), this), // the last one sent is on top
    );
  }

  show(ticket: Ticket): void {
    this.board.show(ticket);
  }

  leave(tickets: Ticket[]): void {
    this.cursor.leave(tickets.map(({ id }) => id));
  }

  focus(ticket: Ticket): void {
    this.cursor.focusCard(ticket.id);
  }
}
