import type { Ticket } from '../../../../generated/api';
import type { paths } from '../../../../generated/api';
import { api, unwrap } from '../../core/server/client';
import { countFollowing, formatTicketCount } from './count-tickets';

export type ListQuery = NonNullable<paths['/tickets']['get']['parameters']['query']>;

/** A list of tickets, loaded page by page. */
export class TicketList {
  /** Null until the first page is loaded. */
  tickets = $state.raw<Ticket[] | null>(null);
  error = $state.raw<unknown>(null);
  #cursor = $state<string | null>(null);
  readonly #query: ListQuery;
  #following = $state<number | null>(null);
  readonly hasMore = $derived(this.#cursor !== null);
  readonly count = $derived(formatTicketCount(this.tickets?.length ?? 0, this.hasMore, this.#following));

  constructor(query: ListQuery) {
    this.#query = query;
  }

  /** Show a listed ticket as it is now. */
  replace(ticket: Ticket): void {
    this.tickets = this.tickets?.map((each) => (each.id === ticket.id ? ticket : each)) ?? null;
  }

  /** Load the first page, or the next one. */
  async load(): Promise<void> {
    const cursor = this.#cursor;
    this.error = null;
    try {
      const query = { ...this.#query, cursor: cursor ?? undefined };
      const page = await unwrap(api.GET('/tickets', { params: { query } }));
      if (cursor !== this.#cursor) return; // the same page was asked for twice
      this.tickets = [...(this.tickets ?? []), ...page.items];
      this.#cursor = page.next_cursor;
      this.#following = countFollowing(page.total, this.tickets.length);
    } catch (problem) {
      this.error = problem;
    }
  }
}
