import { untrack } from 'svelte';
import type { Event, Ticket } from '../../../../generated/api';
import { changesTickets } from '../../companies/labels/company-labels.svelte';
import { api, unwrap } from '../../core/server/client';
import { Problem } from '../../core/server/problem';
import { toasts } from '../../core/toasts.svelte';
import { workspace } from '../../core/workspace.svelte';
import { afterPaint } from '../../ui/feedback/after-paint';
import { countFollowing } from '../list/count-tickets';
import { toQuery, type Filters } from '../list/filters';
import { BoardModel, Lane, type CardGrid, type Position } from './board-model.svelte';

const FIRST_PAGE_SIZE = 25; // fills a high screen; the server's page preloads these requests
const PAGE_SIZE = 100;
const MAX_LOADED = 1000; // of a lane, when the board is in swimlanes
const REFRESHED = { limit: PAGE_SIZE, count: true };
const DEBOUNCE_MS = 80;
const MAX_SINGLE_REFRESHES = 20;

/** What of a lane is asked of the server. */
interface LaneQuery {
  limit: number;
  cursor?: string;
  /** Whether the lane's tickets are counted, which the first screenful doesn't wait for. */
  count?: boolean;
}

/** A project's board: loads lanes, saves moves, and follows the events of the project. */
export class Board extends BoardModel implements CardGrid {
  /** How the board was left, for Back. */
  readonly place: { left: number; focusedId: string | null } = { left: 0, focusedId: null };
  #changed = new Set<string>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #loading: Promise<void> | undefined;

  /** Load the columns and a screenful of each; the rest of their first pages follows. Raises Problem. */
  load(): Promise<void> {
    return (this.#loading = this.#load());
  }

  async #load(): Promise<void> {
    const columns = await workspace.loadColumns(this.project, { fresh: true });
    const lanes = columns.map((column) => this.lane(column.id) ?? new Lane(column));
    lanes.forEach((lane, index) => (lane.column = columns[index]!));
    const before = new Set(this.lanes);
    await Promise.all(
      lanes.map((lane) => this.#refreshLane(lane, before.has(lane) ? REFRESHED : { limit: FIRST_PAGE_SIZE })),
    );
    this.lanes = lanes;
    const newLanes = lanes.filter((lane) => !before.has(lane));
    void afterPaint().then(() =>
      newLanes.forEach((lane) => this.loadMore(lane, PAGE_SIZE - FIRST_PAGE_SIZE)),
    );
  }

  /** Load the next page of a lane. */
  async loadMore(lane: Lane, limit = PAGE_SIZE): Promise<void> {
    if (lane.isLoading || lane.cursor === null) return;
    lane.isLoading = true;
    try {
      const page = await this.#fetchPage(lane, { limit, cursor: lane.cursor, count: true });
      const known = new Set(lane.tickets.map((ticket) => ticket.id));
      lane.tickets = [...lane.tickets, ...page.items.filter((ticket) => !known.has(ticket.id))];
      lane.cursor = page.next_cursor;
      lane.following = countFollowing(page.total, lane.tickets.length);
    } catch (error) {
      lane.failedCursor = lane.cursor;
      toasts.showError(error);
    } finally {
      lane.isLoading = false;
    }
  }

  /** Load the next page of each lane, up to a limit. An effect that calls it loads all. */
  loadAll(): void {
    for (const lane of this.lanes)
      if (!lane.isLoading && lane.cursor !== lane.failedCursor && lane.tickets.length < MAX_LOADED)
        untrack(() => void this.loadMore(lane));
  }

  /** Create a ticket at the top of a column. Raises Problem. */
  async createTicket(column: string, title: string): Promise<void> {
    this.show(await unwrap(api.POST('/tickets', { body: { column_id: column, title } })));
  }

  /** Show a new or changed ticket. */
  show(ticket: Ticket): void {
    this.upsert(ticket, workspace.me!.user.id);
  }

  /** Save the present position of a ticket. If the server refuses, move the ticket back and show the error. */
  async saveMove(id: string, from: Position): Promise<void> {
    const found = this.find(id);
    if (!found) return;
    try {
      const moved = await unwrap(
        api.POST('/tickets/{ticket_id}/move', {
          params: { path: { ticket_id: id } },
          body: { column_id: found.lane.column.id, ...this.neighbourOf(id) },
        }),
      );
      this.replace(moved);
      if (from.column !== moved.column_id)
        toasts.show(`${moved.key} moved to ${moved.column}`, {
          label: 'Undo',
          run: () => {
            const position = this.positionOf(id);
            if (position && this.move(id, from)) void this.saveMove(id, position);
          },
        });
    } catch (error) {
      this.move(id, from);
      toasts.showError(error);
    }
  }

  /** Handle an event of the event stream. Several events of one ticket within a moment become one request. */
  handleEvent(event: Event): void {
    if (
      (event.type.startsWith('column.') && event.project_id === this.project) ||
      changesTickets(event, workspace.project(this.project)?.company_id)
    ) {
      void this.load().catch((error) => toasts.showError(error));
    } else if (event.ticket_id) {
      const isHere = event.project_id === this.project || this.find(event.ticket_id);
      this.#refreshSoon([...(isHere ? [event.ticket_id] : []), ...this.ticketsBlockedBy(event.ticket_id)]);
    }
  }

  #refreshSoon(tickets: string[]): void {
    if (tickets.length === 0) return;
    tickets.forEach((id) => this.#changed.add(id));
    this.#timer ??= setTimeout(() => void this.#refreshChanged(), DEBOUNCE_MS);
  }

  async #refreshChanged(): Promise<void> {
    this.#timer = undefined;
    await this.#loading?.catch(() => undefined); // what is being loaded may be older than the event
    const ids = [...this.#changed];
    this.#changed.clear();
    if (ids.length > MAX_SINGLE_REFRESHES) return this.load().catch((error) => toasts.showError(error));
    const results = await Promise.allSettled(ids.map((id) => this.#refreshTicket(id)));
    const failed = results.find((each) => each.status === 'rejected'); // offline, all of them fail
    if (failed) toasts.showError(failed.reason);
  }

  async #refreshTicket(id: string): Promise<void> {
    try {
      const path = { ticket_id: id };
      const query = { status: 'all' as const, include: ['comments' as const] };
      const ticket = await unwrap(api.GET('/tickets/{ticket_id}', { params: { path, query } }));
      if (ticket.project_id !== this.project) return this.remove(id);
      const before = this.find(id)?.ticket.position;
      this.show(ticket);
      this.#refreshSoon(this.ticketsNewlyBlockedBy(ticket));
      // a move can change the positions of other tickets in the lane
      const now = this.find(id);
      if (now && now.ticket.position !== before) await this.#refreshLane(now.lane);
    } catch (error) {
      if (!(error instanceof Problem) || error.status !== 404) throw error;
      this.remove(id);
    }
  }

  async #refreshLane(lane: Lane, asked: LaneQuery = REFRESHED): Promise<void> {
    const page = await this.#fetchPage(lane, asked);
    const fresh = new Set(page.items.map((ticket) => ticket.id));
    const rest = page.next_cursor
      ? lane.tickets.slice(asked.limit).filter((ticket) => !fresh.has(ticket.id))
      : [];
    lane.tickets = [...page.items, ...rest];
    if (rest.length === 0) lane.cursor = page.next_cursor;
    lane.following = countFollowing(page.total, lane.tickets.length);
  }

  async #fetchPage(lane: Lane, asked: LaneQuery) {
    const query = {
      project_id: this.project,
      column_id: [lane.column.id],
      sort: 'position' as const,
      ...asked,
      ...toQuery(this.filters),
    };
    return unwrap(api.GET('/tickets', { params: { query } }));
  }
}

let last: Board | undefined;

/** Return a project's board: the one that was shown last, if it is the same, so that Back finds it as it was. */
export function openBoard(project: string, filters: Filters): Board {
  if (last?.project === project && JSON.stringify(last.filters) === JSON.stringify(filters)) return last;
  const focusedId = last?.project === project ? last.place.focusedId : null; // filters keep the place
  last = new Board(project, filters);
  last.place.focusedId = focusedId;
  return last;
}
