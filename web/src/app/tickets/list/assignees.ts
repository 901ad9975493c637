import type { Ticket } from '../../../../generated/api';

export type Assignee = Ticket['assignees'][number];

/** List who tickets are assigned to: those with most tickets first, then by name. */
export function listAssignees(tickets: Ticket[]): Assignee[] {
  const people = new Map<string, { person: Assignee; count: number }>();
  for (const person of tickets.flatMap(({ assignees }) => assignees)) {
    const known = people.get(person.id);
    if (known) known.count++;
    else people.set(person.id, { person, count: 1 });
  }
  return [...people.values()]
    .sort((a, b) => b.count - a.count || a.person.name.localeCompare(b.person.name))
    .map(({ person }) => person);
}
