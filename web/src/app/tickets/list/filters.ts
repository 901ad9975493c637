import type { Priority, Ticket } from '../../../../generated/api';
import { findUrgency, toDay } from '../properties/due/due-dates';

/**
 * The filters of a board, table or archive. They are in the address, so that a view can be shared. A ticket has one of
 * several values of a filter, and passes every filter.
 */
export interface Filters {
  /** Ids of members, `me`, and `none` for nobody. */
  assignee: string[];
  label: string[];
  /** Only tickets without a label. */
  unlabeled: 'true' | null;
  priority: Priority[];
  resolved: 'true' | 'false' | null;
  due: 'overdue' | 'none' | null;
}

export const LIST_FILTERS = ['assignee', 'label', 'priority'] as const;
export const FILTER_NAMES = [...LIST_FILTERS, 'unlabeled', 'resolved', 'due'] as const;

/** Parse the filters from the query of the address. */
export function parseFilters(query: URLSearchParams): Filters {
  return Object.fromEntries(
    FILTER_NAMES.map((name) => {
      const text = query.get(name);
      return [name, isListFilter(name) ? (text?.split(',').filter(Boolean) ?? []) : text];
    }),
  ) as unknown as Filters;
}

/** The filters of an address, for the same tickets in another layout. */
export function keepFilters(query: URLSearchParams): string {
  const kept = new URLSearchParams([...query].filter(([name]) => FILTER_NAMES.some((each) => each === name)));
  return kept.size > 0 ? `?${kept}` : '';
}

/** Whether any filter is set. */
export function isFiltered(filters: Filters): boolean {
  return FILTER_NAMES.some((name) => filters[name] !== null && filters[name].length > 0);
}

/** Whether a filter has several values. */
export function isListFilter(name: string): name is (typeof LIST_FILTERS)[number] {
  return (LIST_FILTERS as readonly string[]).includes(name);
}

/** The changes of the address that add a value to a filter, or remove it. Other filters that exclude it are removed. */
export function toggleFilter(
  filters: Filters,
  name: (typeof FILTER_NAMES)[number],
  value: string,
): Record<string, string | null> {
  const others: Record<string, null> =
    name === 'label' ? { unlabeled: null } : name === 'unlabeled' ? { label: null } : {};
  if (!isListFilter(name)) return { ...others, [name]: filters[name] === value ? null : value };
  const values: string[] = filters[name];
  const now = values.includes(value) ? values.filter((each) => each !== value) : [...values, value];
  return { ...others, [name]: now.join(',') || null };
}

/** Convert the filters to the query of `list_tickets`. */
export function toQuery(filters: Filters) {
  const list = <T>(values: T[]) => (values.length > 0 ? values : undefined);
  const isOverdue = filters.due === 'overdue';
  return {
    assignee: list(filters.assignee),
    label: list(filters.label),
    has_labels: filters.unlabeled ? false : undefined,
    priority: list(filters.priority),
    resolved: isOverdue ? false : filters.resolved === null ? undefined : filters.resolved === 'true',
    due_before: isOverdue ? toDay(new Date()) : undefined,
    has_due_date: filters.due === 'none' ? false : undefined,
  };
}

/** Whether a ticket passes the filters. `me` is the signed-in user's id. */
export function matchesFilters(ticket: Ticket, filters: Filters, me: string): boolean {
  const people = ticket.assignees.length > 0 ? ticket.assignees.map((each) => each.id) : ['none'];
  const wanted = filters.assignee.map((each) => (each === 'me' ? me : each));
  const labels = ticket.labels.map((each) => each.toLowerCase());
  return (
    (wanted.length === 0 || people.some((each) => wanted.includes(each))) &&
    (filters.label.length === 0 || filters.label.some((each) => labels.includes(each.toLowerCase()))) &&
    (filters.unlabeled === null || labels.length === 0) &&
    (filters.priority.length === 0 || filters.priority.includes(ticket.priority)) &&
    (filters.resolved === null || String(ticket.resolved) === filters.resolved) &&
    (filters.due !== 'overdue' || findUrgency(ticket, toDay(new Date())) === 'overdue') &&
    (filters.due !== 'none' || !ticket.due_on)
  );
}
