import type { Event, EventType } from '../../../generated/api';
import { api, unwrap } from '../core/server/client';
import { downloadCsv } from '../ui/downloads/csv';

/** The text of every event type. */
export const EVENT_LABELS: Record<EventType, string> = {
  'ticket.created': 'created a ticket',
  'ticket.updated': 'updated a ticket',
  'ticket.moved': 'moved a ticket',
  'ticket.assigned': 'assigned a ticket',
  'ticket.unassigned': 'unassigned a ticket',
  'ticket.archived': 'archived a ticket',
  'ticket.restored': 'restored a ticket',
  'ticket.deleted': 'deleted a ticket',
  'ticket.linked': 'linked a ticket',
  'ticket.unlinked': 'unlinked a ticket',
  'ticket.work_started': 'started work',
  'ticket.work_stopped': 'stopped work',
  'ticket.work_progress': 'reported progress',
  'ticket.work_finished': 'finished work',
  'ticket.question_asked': 'asked a question',
  'ticket.question_answered': 'answered a question',
  'ticket.approval_requested': 'asked for approval',
  'ticket.approved': 'approved an agent’s work',
  'ticket.declined': 'declined an agent’s work',
  'ticket.git_linked': 'linked a branch, commit or pull request',
  'ticket.git_changed': 'changed a branch or pull request',
  'ticket.git_held': 'landed a fix that waits for a gate',
  'ticket.work_stale': 'didn’t renew a claim',
  'ticket.occurred': 'saw a bug again',
  'comment.created': 'commented',
  'comment.updated': 'edited a comment',
  'comment.deleted': 'deleted a comment',
  'capture.attached': 'attached a capture',
  'capture.bug_chosen': 'chose the bug of a capture',
  'capture.confirmed': 'confirmed a capture',
  'capture.deleted': 'deleted a capture',
  'capture.expectation_added': 'said what is wrong on a page',
  'capture.expectation_confirmed': 'confirmed what is wrong on a page',
  'capture.expectation_removed': 'removed an expectation',
  'attachment.added': 'attached a file',
  'attachment.deleted': 'deleted a file',
  'annotations.saved': 'annotated an image',
  'verification.added': 'posted a verification',
  'criterion.added': 'added a criterion',
  'criterion.changed': 'changed a criterion',
  'criterion.removed': 'removed a criterion',
  'evidence.added': 'added evidence',
  'member.invited': 'invited a person',
  'member.joined': 'joined',
  'member.changed': 'updated a member',
  'member.removed': 'removed a member',
  'token.created': 'created an API token',
  'token.revoked': 'revoked an API token',
  'account.password_changed': 'changed the password',
  'account.address_changed': 'changed the email address',
  'account.disabled': 'account disabled',
  'account.enabled': 'account enabled',
  'company.changed': 'updated the company',
  'project.created': 'created a project',
  'project.changed': 'updated a project',
  'project.removed': 'deleted a project',
  'column.created': 'added a column',
  'column.changed': 'updated a column',
  'column.removed': 'deleted a column',
  'label.created': 'created a label',
  'label.changed': 'updated a label',
  'label.merged': 'merged a label into another',
  'label.removed': 'deleted a label',
  'report_key.created': 'created a report key',
  'report_key.changed': 'updated a report key',
  'report_key.removed': 'deleted a report key',
  'git_hook.created': 'created a git hook',
  'git_hook.changed': 'updated a git hook',
  'git_hook.removed': 'deleted a git hook',
  'source_map.added': 'added a source map',
  'source_map.deleted': 'deleted a source map',
  'view.created': 'saved a view',
  'view.changed': 'updated a view',
  'view.removed': 'deleted a view',
  'webhook.created': 'created a webhook',
  'webhook.changed': 'updated a webhook',
  'webhook.removed': 'deleted a webhook',
};

/** The text of an event; for an unknown type of a newer server, the type. */
export function eventLabel(event: Event): string {
  return EVENT_LABELS[event.type as EventType] ?? event.type;
}

/** What an event is about: name, label, member, email address or role. */
export function eventSubject(event: Event, names: Map<string, string>): string {
  const details: Record<string, unknown> = event.data;
  const { name, label, email, role, user_id: user } = details;
  const ticket = event.type === 'ticket.deleted' && details['key'];
  const member = /^(member|account)\./.test(event.type) && names.get(String(user));
  return [name, label, ticket, member, email, role].filter((part) => typeof part === 'string').join(' · ');
}

/** Download the whole log as CSV. Raises Problem. */
export function downloadAudit(company: string, progress: (pages: number) => void): Promise<void> {
  const path = { company_id: company };
  return downloadCsv(
    'audit.csv',
    (cursor) =>
      api.GET('/companies/{company_id}/audit', {
        params: { path, query: { format: 'csv', limit: 100, cursor } },
        parseAs: 'text',
      }),
    progress,
  );
}

/** Fetch a page of the log, newest first. Raises Problem. */
export async function fetchAuditPage(company: string, cursor?: string) {
  const found = await unwrap(
    api.GET('/companies/{company_id}/audit', {
      params: { path: { company_id: company }, query: { limit: 50, cursor } },
    }),
  );
  return found as Exclude<typeof found, string>; // the string type is for CSV
}
