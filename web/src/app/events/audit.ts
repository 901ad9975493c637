import type { Event, EventType } from '../../../generated/api';
import { api, data } from '../core/client';

/** Every type of event, in words. */
export const WORDS: Record<EventType, string> = {
  'ticket.created': 'made a ticket',
  'ticket.updated': 'changed a ticket',
  'ticket.moved': 'moved a ticket',
  'ticket.assigned': 'assigned a ticket',
  'ticket.unassigned': 'unassigned a ticket',
  'ticket.archived': 'archived a ticket',
  'ticket.restored': 'restored a ticket',
  'ticket.work_started': 'started work',
  'ticket.work_stopped': 'stopped work',
  'comment.created': 'commented',
  'comment.updated': 'edited a comment',
  'comment.deleted': 'deleted a comment',
  'capture.attached': 'attached a capture',
  'attachment.added': 'attached a file',
  'annotations.saved': 'annotated a picture',
  'member.invited': 'invited somebody',
  'member.joined': 'joined',
  'member.changed': 'changed a member',
  'member.removed': 'removed a member',
  'token.created': 'made an API token',
  'token.revoked': 'revoked an API token',
  'company.changed': 'changed the company',
  'project.created': 'made a project',
  'project.changed': 'changed a project',
  'project.removed': 'deleted a project',
  'column.created': 'added a column',
  'column.changed': 'changed a column',
  'column.removed': 'deleted a column',
  'webhook.created': 'made a webhook',
  'webhook.changed': 'changed a webhook',
  'webhook.removed': 'deleted a webhook',
};

/** What happened, in words; an event of a newer server by its own name. */
export function inWords(event: Event): string {
  return WORDS[event.type as EventType] ?? event.type;
}

/** What it happened to, as far as the event says it. */
export function about(event: Event, names: Map<string, string>): string {
  const told: Record<string, unknown> = event.data;
  const { name, label, email, role, user_id: user } = told;
  return [name, label, event.type.startsWith('member.') && names.get(String(user)), email, role]
    .filter((part) => typeof part === 'string')
    .join(' · ');
}

/** The whole log as one table. Raises Problem. */
export async function table(company: string, progress: (pages: number) => void): Promise<Blob> {
  const parts: string[] = [];
  let cursor: string | undefined;
  do {
    const { data: text, response } = await api.GET('/companies/{company_id}/audit', {
      params: { path: { company_id: company }, query: { format: 'csv', limit: 100, cursor } },
      parseAs: 'text',
    });
    const page = text as unknown as string;
    // each page has the heading; one is enough
    parts.push(parts.length ? page.slice(page.indexOf('\n') + 1) : page);
    cursor = response.headers.get('x-next-cursor') ?? undefined;
    progress(parts.length);
  } while (cursor);
  return new Blob(parts, { type: 'text/csv' });
}

/** A page of the log, newest first. Raises Problem. */
export async function page(company: string, cursor?: string) {
  const found = await data(
    api.GET('/companies/{company_id}/audit', {
      params: { path: { company_id: company }, query: { limit: 50, cursor } },
    }),
  );
  return found as Exclude<typeof found, string>; // it would be text as CSV
}
