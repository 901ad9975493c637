import type { Ticket, ViewGroup } from '../../../../../generated/api';
import { api, unwrap } from '../../../core/server/client';
import { toasts } from '../../../core/toasts.svelte';
import { workspace } from '../../../core/workspace.svelte';
import type { Board } from '../board.svelte';
import type { CardGrid, Position } from '../board-model.svelte';
import { listSwimlanes, moveToSwimlane, type Swimlane } from './group-tickets';
import { saveFields } from './save-fields';

/** A board in swimlanes: each has the columns with the tickets that have the same priority, assignee or label. */
export class Swimlanes implements CardGrid {
  /** The swimlane of the card that is used. A ticket with several labels or assignees is in several. */
  current = $state('');
  readonly list: Swimlane[] = $derived.by(() => {
    const { lanes, filters } = this.board;
    return listSwimlanes(lanes, this.group, filters, workspace.me!.user.id);
  });
  #collapsed = $state.raw<string[]>([]);
  readonly board: Board;
  readonly group: ViewGroup;
  readonly #key: string;

  constructor(board: Board, group: ViewGroup) {
    this.board = board;
    this.group = group;
    this.#key = `collapsed ${board.project} ${group}`;
    this.#collapsed = JSON.parse(localStorage.getItem(this.#key) ?? '[]');
  }

  isOpen(swimlane: string): boolean {
    return !this.#collapsed.includes(swimlane);
  }

  /** Collapse or expand a swimlane. The browser keeps it. */
  toggle(swimlane: string): void {
    this.#collapsed = this.isOpen(swimlane)
      ? [...this.#collapsed, swimlane]
      : this.#collapsed.filter((each) => each !== swimlane);
    if (this.#collapsed.length > 0) localStorage.setItem(this.#key, JSON.stringify(this.#collapsed));
    else localStorage.removeItem(this.#key);
  }

  firstTicket(): string | undefined {
    for (const swimlane of this.#open)
      for (const { column } of this.board.lanes) {
        const [first] = swimlane.tickets(column.id);
        if (!first) continue;
        this.current = swimlane.id;
        return first.id;
      }
    return undefined;
  }

  listAround(id: string): { name: string; tickets: Ticket[] } {
    const swimlane = this.#find(id);
    const column = this.board.find(id)?.lane.column;
    if (!swimlane || !column) return { name: '', tickets: [] };
    return { name: `${swimlane.label}, ${column.name}`, tickets: swimlane.tickets(column.id) };
  }

  /** The ticket one step away. At the end of a swimlane it is in the next one, which becomes the current one. */
  ticketBeside(id: string, across: number, down: number): string | undefined {
    const [swimlane, found] = [this.#find(id), this.board.find(id)];
    if (!swimlane || !found) return undefined;
    const { lanes } = this.board;
    const column = found.lane.column.id;
    const index = swimlane.tickets(column).findIndex((each) => each.id === id);
    if (across !== 0) {
      for (let at = lanes.indexOf(found.lane) + across; lanes[at]; at += across) {
        const tickets = swimlane.tickets(lanes[at]!.column.id);
        if (tickets.length > 0) return tickets[Math.min(index, tickets.length - 1)]!.id;
      }
      return undefined;
    }
    const next = swimlane.tickets(column)[index + down];
    if (next) return next.id;
    for (let at = this.#open.indexOf(swimlane) + down; this.#open[at]; at += down) {
      const beyond = this.#open[at]!.tickets(column).at(down > 0 ? 0 : -1);
      if (!beyond) continue;
      this.current = this.#open[at]!.id;
      return beyond.id;
    }
    return undefined;
  }

  positionOf(id: string): Position | undefined {
    const position = this.board.positionOf(id);
    return position && { ...position, swimlane: this.#find(id)?.id, ticket: this.board.find(id)!.ticket };
  }

  positionBeside(id: string, across: number, down: number): Position | undefined {
    const [swimlane, found] = [this.#find(id), this.board.find(id)];
    if (!swimlane || !found) return undefined;
    const { lanes } = this.board;
    const column = found.lane.column.id;
    const tickets = swimlane.tickets(column);
    const index = tickets.findIndex((each) => each.id === id);
    if (across !== 0) {
      const beside = lanes[lanes.indexOf(found.lane) + across]?.column.id;
      return beside === undefined
        ? undefined
        : this.#placeIn(swimlane, beside, swimlane.tickets(beside)[index]?.id ?? null, id);
    }
    if (tickets[index + down])
      return this.#placeIn(swimlane, column, tickets[down > 0 ? index + 2 : index - 1]?.id ?? null, id);
    const next = this.#open[this.#open.indexOf(swimlane) + down];
    return next && this.#placeIn(next, column, down > 0 ? (next.tickets(column)[0]?.id ?? null) : null, id);
  }

  /** Move a ticket, with what the tickets of its swimlane share. A position without a card is the end of its cell. */
  move(id: string, position: Position): boolean {
    const found = this.board.find(id);
    const to = this.list.find((each) => each.id === position.swimlane);
    const from = this.#find(id);
    if (!found) return false;
    let isChanged = false;
    if (position.ticket) {
      const { priority, labels, assignees } = position.ticket;
      this.board.replace({ ...found.ticket, priority, labels, assignees });
      isChanged = true;
    } else if (to && from && to !== from) {
      this.board.replace(moveToSwimlane(found.ticket, this.group, from, to));
      isChanged = true;
    }
    const place =
      position.before === null && to && !position.ticket
        ? this.#placeIn(to, position.column, null, id)
        : position;
    this.current = position.swimlane ?? this.current;
    return this.board.move(id, place) || isChanged;
  }

  async saveMove(id: string, from: Position): Promise<void> {
    const now = this.positionOf(id);
    if (!now?.ticket || !from.ticket) return;
    const isMoved = now.column !== from.column || now.before !== from.before;
    const name = this.listAround(id).name;
    try {
      let saved: Ticket | undefined;
      if (isMoved)
        saved = await unwrap(
          api.POST('/tickets/{ticket_id}/move', {
            params: { path: { ticket_id: id } },
            body: { column_id: now.column, ...this.board.neighbourOf(id) },
          }),
        );
      saved = (await saveFields(from.ticket, now.ticket)) ?? saved;
      if (saved) this.board.replace(saved);
      if (now.swimlane !== from.swimlane || now.column !== from.column)
        toasts.show(`${now.ticket.key} moved to ${name}`, { label: 'Undo', run: () => this.#undo(id, from) });
    } catch (error) {
      this.move(id, from);
      toasts.showError(error);
    }
  }

  #undo(id: string, from: Position): void {
    const now = this.positionOf(id);
    if (now && this.move(id, from)) void this.saveMove(id, now);
  }

  get #open(): Swimlane[] {
    return this.list.filter(({ id }) => this.isOpen(id));
  }

  /** Where a ticket is: in the current swimlane if it is in several. */
  #find(id: string): Swimlane | undefined {
    const having = this.list.filter((each) => each.has(id));
    return having.find((each) => each.id === this.current) ?? having[0];
  }

  /** The position before a card of a cell, or below its last card. In an empty cell of its column, a ticket keeps it. */
  #placeIn(swimlane: Swimlane, column: string, before: string | null, moved: string): Position {
    const place = { column, swimlane: swimlane.id };
    if (before !== null) return { ...place, before };
    const last = swimlane.tickets(column).findLast(({ id }) => id !== moved);
    const now = this.board.positionOf(moved);
    if (last) {
      const below = this.board.positionOf(last.id)!.before;
      return { ...place, before: below === moved ? now!.before : below };
    }
    return { ...place, before: now?.column === column ? now.before : null };
  }
}
