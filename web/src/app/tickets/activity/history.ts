import type { Event } from '../../../../generated/api';
import { PRIORITIES } from '../../../shared/ui/PriorityIcon.svelte';

interface Change {
  from?: unknown;
  to?: unknown;
}

/** What happened, as the rest of a sentence that begins with a name. Null for what is shown otherwise. */
export function happening(event: Event, columnName: (id: string) => string | undefined): string | null {
  const told = event.data as Record<string, unknown>;
  switch (event.type) {
    case 'ticket.created':
      return 'created the ticket';
    case 'ticket.updated':
      return updated(told);
    case 'ticket.moved': {
      const [from, to] = ['from', 'to'].map((end) => place(told[end], columnName));
      return from && to ? `moved it from ${from} to ${to}` : `moved it${to ? ` to ${to}` : ''}`;
    }
    case 'ticket.assigned':
      return `assigned ${people(told['users'], event)}`;
    case 'ticket.unassigned':
      return `unassigned ${people(told['users'], event)}`;
    case 'ticket.archived':
      return 'archived the ticket';
    case 'ticket.restored':
      return 'restored the ticket';
    case 'ticket.work_started':
      return `started work on ${String(told['branch'])}`;
    case 'ticket.work_stopped':
      return 'stopped work';
    case 'comment.deleted':
      return 'deleted a comment';
    case 'capture.attached':
      return 'attached a capture';
    case 'attachment.added':
      return `attached ${String(told['name'])}`;
    case 'annotations.saved':
      return told['redacted'] ? 'blacked out a part of a picture' : 'annotated a picture';
    default:
      return null;
  }
}

function updated(told: Record<string, unknown>): string {
  const fields = (told['fields'] as string[] | undefined) ?? [];
  const changes = (told['changes'] as Record<string, Change> | undefined) ?? {};
  return list(fields.map((field) => changed(field, changes[field] ?? {})));
}

function changed(field: string, { from, to }: Change): string {
  switch (field) {
    case 'title':
      return `changed the title from “${String(from)}” to “${String(to)}”`;
    case 'priority':
      return `set the priority to ${PRIORITIES.find(({ value }) => value === to)?.label ?? String(to)}`;
    case 'resolved':
      return to ? 'marked it as resolved' : 'reopened it';
    case 'labels':
      return labels((from as string[]) ?? [], (to as string[]) ?? []);
    default:
      return `edited the ${field}`;
  }
}

function labels(from: string[], to: string[]): string {
  const added = to.filter((label) => !from.includes(label)).map((label) => `“${label}”`);
  const removed = from.filter((label) => !to.includes(label)).map((label) => `“${label}”`);
  return list([
    ...(added.length ? [`added the ${plural('label', added)} ${list(added)}`] : []),
    ...(removed.length ? [`removed the ${plural('label', removed)} ${list(removed)}`] : []),
    ...(added.length + removed.length === 0 ? ['reordered the labels'] : []),
  ]);
}

function plural(word: string, of: unknown[]): string {
  return of.length === 1 ? word : `${word}s`;
}

function place(end: unknown, columnName: (id: string) => string | undefined): string | undefined {
  const id = (end as { column_id?: string | null } | undefined)?.column_id;
  return id ? (columnName(id) ?? 'another column') : undefined;
}

function people(users: unknown, event: Event): string {
  const named = (users as { id: string; name: string }[] | undefined) ?? [];
  return list(named.map(({ id, name }) => (id === event.by.user.id ? 'themselves' : name)));
}

/** `a, b and c` */
export function list(parts: string[]): string {
  return parts.length < 2 ? (parts[0] ?? '') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;
}
