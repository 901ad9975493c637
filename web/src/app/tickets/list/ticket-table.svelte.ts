import type { Sort, Status, Ticket } from '../../../../generated/api';
import { api, unwrap } from '../../core/client';
import { toQuery, type Filters } from './filters';

export type SortField = 'updated' | 'created' | 'priority';

const PAGE_SIZE = 50;
export const MAX_SELECTED = 50; // the limit of a bulk call

/** The tickets of a table, loaded page by page, with their order and the selection. */
export class TicketTable {
  /** Null until the first page is loaded. */
  tickets = $state.raw<Ticket[] | null>(null);
  error = $state.raw<unknown>(null);
  sort = $state<Sort>('-updated');
  selected = $state.raw<ReadonlySet<string>>(new Set());
  /** Whether tickets have changed since they were loaded. */
  isStale = $state(false);
  #cursor = $state<string | null>(null);
  #latest = 0;
  readonly #scope: { project_id: string; status: Status; filters: Filters };

  readonly hasMore = $derived(this.#cursor !== null);
  /** In the order of their selection, in which a bulk call changes them. */
  readonly selectedTickets = $derived(
    [...this.selected].flatMap((id) => this.tickets?.find((each) => each.id === id) ?? []),
  );
  /** Whether as many tickets are selected as can be. */
  readonly isAllSelected = $derived(
    this.selected.size > 0 && this.selected.size === Math.min(this.tickets?.length ?? 0, MAX_SELECTED),
  );

  constructor(project: string, status: Status, filters: Filters) {
    this.#scope = { project_id: project, status, filters };
  }

  /** Load the first page. */
  load(): Promise<void> {
    return this.#load(null);
  }

  loadMore(): Promise<void> {
    return this.#load(this.#cursor);
  }

  async #load(cursor: string | null): Promise<void> {
    const run = ++this.#latest;
    const { filters, ...scope } = this.#scope;
    this.error = null;
    try {
      const query = {
        ...scope,
        sort: this.sort,
        limit: PAGE_SIZE,
        cursor: cursor ?? undefined,
        ...toQuery(filters),
      };
      const page = await unwrap(api.GET('/tickets', { params: { query } }));
      if (run !== this.#latest) return;
      this.tickets = cursor ? [...(this.tickets ?? []), ...page.items] : page.items;
      this.#cursor = page.next_cursor;
      if (cursor) return;
      this.isStale = false;
      this.clearSelection();
    } catch (problem) {
      if (run === this.#latest) this.error = problem;
    }
  }

  /** Sort by a field, first in descending order, and load again. */
  sortBy(field: SortField): void {
    this.sort = this.sort === `-${field}` ? field : `-${field}`;
    void this.load();
  }

  select(id: string, isSelected: boolean): void {
    const selected = new Set(this.selected);
    if (isSelected) selected.add(id);
    else selected.delete(id);
    this.selected = selected;
  }

  /** Select as many tickets as a bulk call accepts. */
  selectAll(): void {
    this.selected = new Set((this.tickets ?? []).slice(0, MAX_SELECTED).map(({ id }) => id));
  }

  clearSelection(): void {
    this.selected = new Set();
  }
}
