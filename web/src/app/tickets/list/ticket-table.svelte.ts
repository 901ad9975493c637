import type { Sort, Status, Ticket, ViewGroup } from '../../../../generated/api';
import type { SortField } from '../fields';
import { toQuery, type Filters } from './filters';
import { findGroups, type Group } from './table-groups';
import { TicketList } from './ticket-list.svelte';

const PAGE_SIZE = 50;
const GROUP_SIZE = 20;
const DEBOUNCE_MS = 150;
export const MAX_SELECTED = 50; // the limit of a bulk call
export const USUAL_SORT: Sort = '-updated';

/** A group of the table with its tickets. */
export interface TableGroup extends Group {
  list: TicketList;
}

/** The tickets of a table, in groups, with their order and the selection. */
export class TicketTable {
  /** Null until they are loaded. A table without grouping has one. */
  groups = $state.raw<TableGroup[] | null>(null);
  error = $state.raw<unknown>(null);
  sort = $state<Sort>(USUAL_SORT);
  group = $state<ViewGroup | null>(null);
  selected = $state.raw<ReadonlySet<string>>(new Set());
  /** Whether tickets have changed since they were loaded. */
  isStale = $state(false);
  #latest = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #scope: { project_id: string; status: Status };
  readonly #filters: Filters;

  /** The tickets as they are listed; null until they are loaded. */
  readonly tickets = $derived(this.groups?.flatMap(({ list }) => list.tickets ?? []) ?? null);
  /** In the order of their selection, in which a bulk call changes them. */
  readonly selectedTickets = $derived(
    [...this.selected].flatMap((id) => this.tickets?.find((each) => each.id === id) ?? []),
  );
  /** Whether as many tickets are selected as can be. */
  readonly isAllSelected = $derived(
    this.selected.size > 0 && this.selected.size === Math.min(this.#listIds().length, MAX_SELECTED),
  );

  constructor(project: string, status: Status, filters: Filters) {
    this.#scope = { project_id: project, status };
    this.#filters = filters;
  }

  /** Load the tickets in an order and in groups. */
  show(sort: Sort, group: ViewGroup | null): Promise<void> {
    this.sort = sort;
    this.group = group;
    return this.load();
  }

  /** Load the first page of each group. */
  async load(): Promise<void> {
    const run = ++this.#latest;
    this.error = null;
    try {
      const found = await findGroups(this.group, this.#scope.project_id, this.#filters);
      const limit = this.group ? GROUP_SIZE : PAGE_SIZE;
      const common = { ...this.#scope, ...toQuery(this.#filters), sort: this.sort, limit };
      const groups = found.map((each) => ({
        ...each,
        list: new TicketList({ ...common, ...each.query, count: true }),
      }));
      await Promise.all(groups.map(({ list }) => list.load()));
      if (run !== this.#latest) return;
      const failed = groups.find(({ list }) => list.error);
      if (failed) throw failed.list.error;
      this.groups = groups;
      this.isStale = false;
      const listed = this.#listIds();
      this.selected = new Set([...this.selected].filter((id) => listed.includes(id)));
    } catch (problem) {
      if (run === this.#latest) this.error = problem;
    }
  }

  /** Show a ticket as it is now, and load all again when no more of them are changed, in their order and groups. */
  update(ticket: Ticket): void {
    this.groups?.forEach(({ list }) => list.replace(ticket));
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.load(), DEBOUNCE_MS);
  }

  select(id: string, isSelected: boolean): void {
    const selected = new Set(this.selected);
    if (isSelected) selected.add(id);
    else selected.delete(id);
    this.selected = selected;
  }

  /** Select as many tickets as a bulk call accepts. */
  selectAll(): void {
    this.selected = new Set(this.#listIds().slice(0, MAX_SELECTED));
  }

  clearSelection(): void {
    this.selected = new Set();
  }

  /** A ticket can be in several groups. */
  #listIds(): string[] {
    return [...new Set(this.tickets?.map((each: Ticket) => each.id))];
  }
}

/** The order after a click on the head of a column: what people look for first on top, then reversed. */
export function reverseSort(sort: Sort, field: SortField): Sort {
  const rises = field === 'due' || field === 'title';
  const first: Sort = rises ? field : `-${field}`;
  const second: Sort = rises ? `-${field}` : field;
  return sort === first ? second : first;
}
