import type { Column, Ticket } from '../../../../generated/api';
import { api, unwrap } from '../../core/server/client';
import { describeError } from '../../core/server/problem';
import { toasts } from '../../core/toasts.svelte';
import { formatCount } from '../../ui/display/format';
import type { TicketChanges } from '../fields';

type Page = { items: Ticket[]; next_cursor: string | null };

/** A change of tickets: what to call for each, how to take it back, and what the message says. */
export interface Edit {
  done: string;
  run: (ticket: Ticket) => Promise<Ticket>;
  revert: (before: Ticket) => Promise<Ticket>;
}

/** A list of tickets that edits change. */
export interface EditedList {
  show: (ticket: Ticket) => void;
  /** Move the focus on before tickets leave their place. */
  leave?: (tickets: Ticket[]) => void;
  /** Focus a ticket that is back. */
  focus?: (ticket: Ticket) => void;
}

const at = (ticket: Ticket) => ({ path: { ticket_id: ticket.id } });

export const patch = (ticket: Ticket, body: TicketChanges) =>
  unwrap(api.PATCH('/tickets/{ticket_id}', { params: { ...at(ticket), header: { 'If-Match': '*' } }, body }));

const move = (ticket: Ticket, column: string | null, before?: string) =>
  unwrap(api.POST('/tickets/{ticket_id}/move', { params: at(ticket), body: { column_id: column!, before } }));

/** Move a ticket back to its place. `restored`: the positions that other tickets had when it was there. */
async function moveBack(ticket: Ticket, restored: Map<string, number>): Promise<Ticket> {
  const next = await findNext(ticket, restored);
  restored.set(ticket.id, ticket.position);
  return move(ticket, ticket.column_id, next);
}

/** Find the ticket that now follows the place where a ticket was; none at the end of the column. */
async function findNext(
  { id, project_id, column_id, position }: Ticket,
  restored: Map<string, number>,
): Promise<string | undefined> {
  const column = { project_id, column_id: [column_id!], sort: 'position' as const, limit: 100 };
  let cursor: string | null = null;
  do {
    const query: typeof column & { cursor?: string } = { ...column, cursor: cursor ?? undefined };
    const page: Page = await unwrap(api.GET('/tickets', { params: { query } }));
    const next = page.items.find(
      (each) => each.id !== id && (restored.get(each.id) ?? each.position) > position,
    );
    if (next) return next.id;
    cursor = page.next_cursor;
  } while (cursor !== null);
  return undefined;
}

export const assign = (ticket: Ticket, user: string, isAssigned: boolean) => {
  const params = { path: { ticket_id: ticket.id, user_id: user } };
  return unwrap(
    isAssigned
      ? api.PUT('/tickets/{ticket_id}/assignees/{user_id}', { params })
      : api.DELETE('/tickets/{ticket_id}/assignees/{user_id}', { params }),
  );
};

/** Set a field; `done` says what became of the ticket. */
export function editField<Name extends 'priority' | 'due_on'>(
  name: Name,
  value: Ticket[Name],
  done: string,
): Edit {
  return {
    done,
    run: (ticket) => patch(ticket, { [name]: value }),
    revert: (before) => patch(before, { [name]: before[name] }),
  };
}

export function editLabel(label: string, isAdded: boolean): Edit {
  return {
    done: isAdded ? `labelled ${label}` : `lost the label ${label}`,
    run: (ticket) => {
      const others = ticket.labels.filter((each) => each !== label);
      return patch(ticket, { labels: isAdded ? [...others, label] : others });
    },
    revert: (before) => patch(before, { labels: before.labels }),
  };
}

export function editColumn(column: Column): Edit {
  const restored = new Map<string, number>();
  return {
    done: `moved to ${column.name}`,
    run: (ticket) => move(ticket, column.id),
    revert: (before) => moveBack(before, restored),
  };
}

export function editAssignee(user: { id: string; name: string }, isAssigned: boolean): Edit {
  return {
    done: isAssigned ? `assigned to ${user.name}` : `unassigned from ${user.name}`,
    run: (ticket) => assign(ticket, user.id, isAssigned),
    revert: (before) =>
      assign(
        before,
        user.id,
        before.assignees.some((each) => each.id === user.id),
      ),
  };
}

const archive = (ticket: Ticket) => unwrap(api.POST('/tickets/{ticket_id}/archive', { params: at(ticket) }));
const restore = (ticket: Ticket) => unwrap(api.POST('/tickets/{ticket_id}/restore', { params: at(ticket) }));

export const ARCHIVE: Edit = { done: 'archived', run: archive, revert: restore };
export const RESTORE: Edit = { done: 'restored', run: restore, revert: archive };

export function sendToAgent(): Edit {
  const restored = new Map<string, number>();
  return {
    done: 'sent to agents',
    run: (ticket) => unwrap(api.POST('/tickets/{ticket_id}/send-to-agent', { params: at(ticket) })),
    revert: async (before) => {
      const now = await patch(before, { labels: before.labels });
      const isBack = now.column_id === before.column_id && now.position === before.position;
      return isBack ? now : moveBack(before, restored);
    },
  };
}

/** Change tickets one after the other, so that moved ones keep their order. */
export async function editTickets(tickets: Ticket[], edit: Edit, list: EditedList): Promise<void> {
  const failed: Ticket[] = [];
  let reason = '';
  for (const ticket of tickets) {
    try {
      list.show(await edit.run(ticket));
    } catch (error) {
      failed.push(ticket);
      reason ||= describeError(error);
    }
  }
  const changed = tickets.filter((ticket) => !failed.includes(ticket));
  if (failed.length > 0)
    toasts.showError(new Error(`${nameTickets(failed)} not changed: ${reason}`), {
      label: 'Try again',
      run: () => void editTickets(failed, edit, list),
    });
  else
    toasts.show(`${nameTickets(changed)} ${edit.done}`, {
      label: 'Undo',
      run: () =>
        void editTickets(changed, { ...edit, done: 'restored', run: edit.revert }, list).then(() =>
          list.focus?.(changed[0]!),
        ),
    });
}

function nameTickets(tickets: Ticket[]): string {
  return tickets.length === 1 ? tickets[0]!.key : formatCount(tickets.length, 'ticket', 'tickets');
}
