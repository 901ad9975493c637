import type { Priority, Ticket } from '../../../../generated/api';

/** What a board, table or archive is narrowed to. It stands in the address, so that a view can be shared. */
export interface Filters {
  assignee: string | null;
  label: string | null;
  priority: Priority | null;
  resolved: 'true' | 'false' | null;
}

const NAMES = ['assignee', 'label', 'priority', 'resolved'] as const;

export function read(query: URLSearchParams): Filters {
  return Object.fromEntries(NAMES.map((name) => [name, query.get(name)])) as unknown as Filters;
}

/** The filters as the query of list_tickets. */
export function asQuery(filters: Filters) {
  return {
    assignee: filters.assignee ?? undefined,
    label: filters.label ?? undefined,
    priority: filters.priority ?? undefined,
    resolved: filters.resolved === null ? undefined : filters.resolved === 'true',
  };
}

/** Whether a ticket that an event brought belongs into the narrowed view. `me` is the caller's id. */
export function matches(ticket: Ticket, filters: Filters, me: string): boolean {
  const assignee = filters.assignee === 'me' ? me : filters.assignee;
  return (
    (assignee === null || ticket.assignees.some((each) => each.id === assignee)) &&
    (filters.label === null || ticket.labels.includes(filters.label)) &&
    (filters.priority === null || ticket.priority === filters.priority) &&
    (filters.resolved === null || String(ticket.resolved) === filters.resolved)
  );
}
