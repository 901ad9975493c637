import type { Priority, Ticket, ViewGroup } from '../../../../../generated/api';
import { PRIORITIES } from '../../../../shared/ui/PriorityIcon.svelte';
import type { Lane } from '../board-model.svelte';
import type { Filters } from '../../list/filters';

type Person = Ticket['assignees'][number];

/** What the tickets of a swimlane share. The id of the one for no assignee and for no label is empty. */
interface Group {
  id: string;
  label: string;
  priority?: Priority;
  person?: Person;
}

/** A row of a board: tickets with the same priority, assignee or label, by column. */
export class Swimlane implements Group {
  readonly id: string;
  readonly label: string;
  readonly priority?: Priority;
  readonly person?: Person;
  #ids = new Set<string>();
  #cells = new Map<string, Ticket[]>();

  constructor({ id, label, priority, person }: Group) {
    this.id = id;
    this.label = label;
    this.priority = priority;
    this.person = person;
  }

  get size(): number {
    return this.#ids.size;
  }

  has(ticket: string): boolean {
    return this.#ids.has(ticket);
  }

  tickets(column: string): Ticket[] {
    return this.#cells.get(column) ?? [];
  }

  add(column: string, ticket: Ticket): void {
    this.#ids.add(ticket.id);
    const cell = this.#cells.get(column);
    if (cell) cell.push(ticket);
    else this.#cells.set(column, [ticket]);
  }
}

/** Sort the tickets of a board into swimlanes. Those without a ticket, and those that the filters exclude, are left out. */
export function listSwimlanes(lanes: Lane[], group: ViewGroup, filters: Filters, me: string): Swimlane[] {
  const swimlanes = new Map<string, Swimlane>();
  for (const { column, tickets } of lanes)
    for (const ticket of tickets)
      for (const each of findGroups(ticket, group)) {
        if (!isWanted(each, group, filters, me)) continue;
        if (!swimlanes.has(each.id)) swimlanes.set(each.id, new Swimlane(each));
        swimlanes.get(each.id)!.add(column.id, ticket);
      }
  const rank = ({ id, priority }: Swimlane) =>
    priority ? PRIORITIES.findIndex(({ value }) => value === priority) : id === me ? -1 : id === '' ? 1 : 0;
  return [...swimlanes.values()].sort((a, b) => rank(a) - rank(b) || a.label.localeCompare(b.label));
}

function findGroups(ticket: Ticket, group: ViewGroup): Group[] {
  if (group === 'priority') {
    const { value, label } = PRIORITIES.find((each) => each.value === ticket.priority)!;
    return [{ id: value, label, priority: value }];
  }
  if (group === 'assignee')
    return ticket.assignees.length > 0
      ? ticket.assignees.map((person) => ({ id: person.id, label: person.name, person }))
      : [{ id: '', label: 'Unassigned' }];
  return ticket.labels.length > 0
    ? ticket.labels.map((label) => ({ id: label, label }))
    : [{ id: '', label: 'No label' }];
}

/** A ticket that a filter finds by one label has others as well; they make no swimlanes. */
function isWanted({ id }: Group, group: ViewGroup, { assignee, label }: Filters, me: string): boolean {
  if (group === 'label')
    return label.length === 0 || label.some((each) => each.toLowerCase() === id.toLowerCase());
  if (group === 'assignee')
    return assignee.length === 0 || assignee.includes(id || 'none') || (id === me && assignee.includes('me'));
  return true;
}

/** The ticket as it is after a move from one swimlane to another. Without an assignee or label, it loses all. */
export function moveToSwimlane(ticket: Ticket, group: ViewGroup, from: Group, to: Group): Ticket {
  if (group === 'priority') return { ...ticket, priority: to.priority! };
  if (group === 'assignee') {
    const others = ticket.assignees.filter(({ id }) => id !== from.id && id !== to.id);
    return { ...ticket, assignees: to.person ? [...others, to.person] : [] };
  }
  const others = ticket.labels.filter((each) => each !== from.id && each !== to.id);
  return { ...ticket, labels: to.id ? [...others, to.id] : [] };
}
