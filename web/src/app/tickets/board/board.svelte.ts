import type { Column, Event, Ticket } from '../../../../generated/api';
import { api, data } from '../../core/client';
import { Problem } from '../../core/problem';
import { toasts } from '../../core/toasts.svelte';
import { workspace } from '../../core/workspace.svelte';
import { painted } from '../../ui/feedback/after-paint';
import { asQuery, matches, type Filters } from '../list/filters';

const FIRST = 25; // fills a high screen
const PAGE = 100;
const GATHER_MS = 80;

/** A place in a column: right before a ticket, or at the end. */
export interface Place {
  column: string;
  before: string | null;
}

/** One column's tickets, as far down as they were looked at. */
export class Lane {
  readonly column: Column;
  tickets = $state.raw<Ticket[]>([]);
  cursor = $state<string | null>(null);
  loading = $state(false);

  constructor(column: Column) {
    this.column = column;
  }
}

/** A project's board: its lanes, kept as they are on the server by the events that arrive. */
export class Board {
  readonly project: string;
  readonly filters: Filters;
  lanes = $state.raw<Lane[]>([]);
  #changed = new Set<string>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(project: string, filters: Filters) {
    this.project = project;
    this.filters = filters;
  }

  /** The columns, and what a screen shows of each; the rest of their first pages follows. Raises Problem. */
  async load(): Promise<void> {
    const columns = await workspace.loadColumns(this.project, { fresh: true });
    const lanes = columns.map((column) => this.lane(column.id) ?? new Lane(column));
    const before = new Set(this.lanes);
    await Promise.all(lanes.map((lane) => this.#refresh(lane, before.has(lane) ? PAGE : FIRST)));
    this.lanes = lanes;
    const begun = lanes.filter((lane) => !before.has(lane));
    void painted().then(() => begun.forEach((lane) => this.more(lane, PAGE - FIRST)));
  }

  lane(column: string): Lane | undefined {
    return this.lanes.find((lane) => lane.column.id === column);
  }

  find(ticket: string): { lane: Lane; ticket: Ticket; index: number } | undefined {
    for (const lane of this.lanes) {
      const index = lane.tickets.findIndex((each) => each.id === ticket);
      if (index >= 0) return { lane, ticket: lane.tickets[index]!, index };
    }
    return undefined;
  }

  /** The next page of a lane, when its end comes into sight. */
  async more(lane: Lane, limit = PAGE): Promise<void> {
    if (lane.loading || lane.cursor === null) return;
    lane.loading = true;
    try {
      const page = await this.#page(lane, limit, lane.cursor);
      const known = new Set(lane.tickets.map((ticket) => ticket.id));
      lane.tickets = [...lane.tickets, ...page.items.filter((ticket) => !known.has(ticket.id))];
      lane.cursor = page.next_cursor;
    } catch (error) {
      toasts.failed(error);
    } finally {
      lane.loading = false;
    }
  }

  /** Make a ticket at the end of a lane. Raises Problem. */
  async add(column: string, title: string): Promise<void> {
    const ticket = await data(api.POST('/tickets', { body: { column_id: column, title } }));
    this.put(ticket);
  }

  /** Show a ticket where it stands now; take it off where it doesn't belong. */
  put(ticket: Ticket): void {
    const found = this.find(ticket.id);
    if (found && found.ticket.version > ticket.version) return;
    const lane =
      ticket.status === 'active' && ticket.column_id && matches(ticket, this.filters, workspace.me!.user.id)
        ? this.lane(ticket.column_id)
        : undefined;
    if (found && found.lane === lane && found.ticket.position === ticket.position) {
      lane.tickets = lane.tickets.with(found.index, ticket);
      return;
    }
    this.take(ticket.id);
    if (!lane) return;
    const index = lane.tickets.findIndex((each) => each.position > ticket.position);
    if (index >= 0) lane.tickets = lane.tickets.toSpliced(index, 0, ticket);
    else if (lane.cursor === null) lane.tickets = [...lane.tickets, ticket];
  }

  /** Take a ticket off the board, here alone. */
  take(id: string): void {
    const found = this.find(id);
    if (found) found.lane.tickets = found.lane.tickets.toSpliced(found.index, 1);
  }

  /** Put a ticket at a place, here alone. Returns whether it stands elsewhere now. */
  shift(id: string, place: Place): boolean {
    const found = this.find(id);
    const lane = this.lane(place.column);
    if (!found || !lane || place.before === id) return false;
    const after = found.lane.tickets[found.index + 1]?.id ?? null;
    if (found.lane === lane && after === place.before) return false;
    this.take(id);
    const index = place.before === null ? -1 : lane.tickets.findIndex((each) => each.id === place.before);
    const at = index < 0 ? lane.tickets.length : index;
    lane.tickets = lane.tickets.toSpliced(at, 0, { ...found.ticket, column_id: place.column });
    return true;
  }

  /** Where a ticket stands, as a place to put it back to. */
  placeOf(id: string): Place | undefined {
    const found = this.find(id);
    return found && { column: found.lane.column.id, before: found.lane.tickets[found.index + 1]?.id ?? null };
  }

  /** Tell the server where a ticket was put; where it refuses, put the ticket back and say why. */
  async settle(id: string, from: Place): Promise<void> {
    const found = this.find(id);
    if (!found) return;
    const { lane, index } = found;
    // the end of what is loaded isn't the end of the lane
    const beside =
      index + 1 < lane.tickets.length
        ? { before: lane.tickets[index + 1]!.id }
        : lane.cursor !== null && index > 0
          ? { after: lane.tickets[index - 1]!.id }
          : {};
    try {
      const moved = await data(
        api.POST('/tickets/{ticket_id}/move', {
          params: { path: { ticket_id: id } },
          body: { column_id: lane.column.id, ...beside },
        }),
      );
      const now = this.find(id);
      if (now) now.lane.tickets = now.lane.tickets.with(now.index, moved);
    } catch (error) {
      this.shift(id, from);
      toasts.failed(error);
    }
  }

  /** Follow an event of this project. What happened to one ticket within a moment is asked for once. */
  follow(event: Event): void {
    if (event.type.startsWith('column.') && event.project_id === this.project) {
      void this.load().catch((error) => toasts.failed(error));
    } else if (event.ticket_id && (event.project_id === this.project || this.find(event.ticket_id))) {
      this.#changed.add(event.ticket_id);
      this.#timer ??= setTimeout(() => void this.#catchUp(), GATHER_MS);
    }
  }

  async #catchUp(): Promise<void> {
    this.#timer = undefined;
    const ids = [...this.#changed];
    this.#changed.clear();
    if (ids.length > 20) return this.load().catch((error) => toasts.failed(error));
    await Promise.all(ids.map((id) => this.#fetch(id).catch((error) => toasts.failed(error))));
  }

  async #fetch(id: string): Promise<void> {
    try {
      const path = { ticket_id: id };
      const query = { status: 'all', include: ['comments' as const] };
      const ticket = await data(api.GET('/tickets/{ticket_id}', { params: { path, query } }));
      if (ticket.project_id !== this.project) return this.take(id);
      const before = this.find(id)?.ticket.position;
      this.put(ticket);
      // a move may have given its new neighbours other positions
      const now = this.find(id);
      if (now && now.ticket.position !== before) await this.#refresh(now.lane);
    } catch (error) {
      if (!(error instanceof Problem) || error.status !== 404) throw error;
      this.take(id);
    }
  }

  async #refresh(lane: Lane, limit = PAGE): Promise<void> {
    const page = await this.#page(lane, limit);
    const fresh = new Set(page.items.map((ticket) => ticket.id));
    const further = page.next_cursor
      ? lane.tickets.slice(limit).filter((ticket) => !fresh.has(ticket.id))
      : [];
    lane.tickets = [...page.items, ...further];
    if (further.length === 0) lane.cursor = page.next_cursor;
  }

  async #page(lane: Lane, limit: number, cursor?: string) {
    const query = {
      project_id: this.project,
      column_id: lane.column.id,
      sort: 'position' as const,
      limit,
      cursor,
      ...asQuery(this.filters),
    };
    return data(api.GET('/tickets', { params: { query } }));
  }
}
