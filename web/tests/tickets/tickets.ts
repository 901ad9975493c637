import type { Ticket } from '../../generated/api';

/** A ticket with only the fields that the board reads. */
export function ticket(id: string, fields: Partial<Ticket> = {}): Ticket {
  return {
    id,
    title: id,
    status: 'active',
    column_id: 'todo',
    position: 1,
    version: 1,
    priority: 'none',
    labels: [],
    assignees: [],
    blocked_by: [],
    resolved: false,
    ...fields,
  } as Ticket;
}
