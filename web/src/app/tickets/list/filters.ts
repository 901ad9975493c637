import type { Priority, Ticket } from '../../../../generated/api';
import { findUrgency, toDay } from '../properties/due-dates';

/** The filters of a board, table or archive. They are in the address, so that a view can be shared. */
export interface Filters {
  assignee: string | null;
  label: string | null;
  priority: Priority | null;
  resolved: 'true' | 'false' | null;
  due: 'overdue' | null;
}

export const FILTER_NAMES = ['assignee', 'label', 'priority', 'resolved', 'due'] as const;

/** Parse the filters from the query of the address. */
export function parseFilters(query: URLSearchParams): Filters {
  return Object.fromEntries(FILTER_NAMES.map((name) => [name, query.get(name)])) as unknown as Filters;
}

/** Convert the filters to the query of `list_tickets`. */
export function toQuery(filters: Filters) {
  return {
    assignee: filters.assignee ?? undefined,
    label: filters.label ?? undefined,
    priority: filters.priority ?? undefined,
    resolved: filters.due ? false : filters.resolved === null ? undefined : filters.resolved === 'true',
    due_before: filters.due ? toDay(new Date()) : undefined,
  };
}

/** Whether a ticket passes the filters. `me` is the signed-in user's id. */
export function matchesFilters(ticket: Ticket, filters: Filters, me: string): boolean {
  const assignee = filters.assignee === 'me' ? me : filters.assignee;
  const label = filters.label?.toLowerCase();
  return (
    (assignee === null ||
      (assignee === 'none'
        ? ticket.assignees.length === 0
        : ticket.assignees.some((each) => each.id === assignee))) &&
    (label === undefined || ticket.labels.some((each) => each.toLowerCase() === label)) &&
    (filters.priority === null || ticket.priority === filters.priority) &&
    (filters.resolved === null || String(ticket.resolved) === filters.resolved) &&
    (filters.due === null || findUrgency(ticket, toDay(new Date())) === 'overdue')
  );
}
