import type { Event, TicketLink, Verification } from '../../../../generated/api';
import { formatDay } from '../../ui/time/dates';
import { joinWords } from '../../ui/display/format';
import { describeGitEvent } from '../git/git-links';
import { describeVerification } from '../verifications/verifications';
import { PRIORITIES } from '../../../shared/ui/PriorityIcon.svelte';

interface Change {
  from?: unknown;
  to?: unknown;
}

/** Find what people call a column or another ticket, by its id. */
export interface Names {
  column: (id: string) => string | undefined;
  ticket: (id: string) => string | undefined;
}

/** Describe an event as the rest of a sentence that begins with a name. Null for events that are shown otherwise. */
export function describeEvent(event: Event, names: Names): string | null {
  const details = event.data as Record<string, unknown>;
  switch (event.type) {
    case 'ticket.created':
      return 'created the ticket';
    case 'ticket.updated':
      return describeUpdate(details);
    case 'ticket.moved': {
      const [from, to] = ['from', 'to'].map((end) => columnLabel(details[end], names.column));
      const move =
        from && to ? `moved the ticket from ${from} to ${to}` : `moved the ticket${to ? ` to ${to}` : ''}`;
      const { resolved } = (details['changes'] ?? {}) as { resolved?: Change };
      return resolved ? `${move} and ${resolved.to ? 'resolved' : 'reopened'} it` : move;
    }
    case 'ticket.assigned':
      return `assigned ${listPeople(details['users'], event)}`;
    case 'ticket.unassigned':
      return `unassigned ${listPeople(details['users'], event)}`;
    case 'ticket.archived':
      return 'archived the ticket';
    case 'ticket.restored':
      return 'restored the ticket';
    case 'ticket.linked':
      return describeLink(details['kind'], nameTicket(details['other'], names));
    case 'ticket.unlinked':
      return `removed the link to ${nameTicket(details['other'], names)}`;
    case 'ticket.git_linked':
    case 'ticket.git_changed':
    case 'ticket.git_held':
      return describeGitEvent(event.type, details);
    case 'ticket.work_started':
      return `started work on ${String(details['branch'])}`;
    case 'ticket.work_stopped':
      return 'stopped work';
    case 'ticket.work_progress':
      return details['note'] ? `reported: ${String(details['note'])}` : 'reported progress';
    case 'ticket.work_finished':
      return 'finished work';
    case 'ticket.question_asked':
      return `asked: ${String(details['question'])}`;
    case 'ticket.question_answered':
      return `answered: ${String(details['answer'])}`;
    case 'ticket.approval_requested':
      return details['approval'] === 'plan' ? 'asked for approval of the plan' : 'asked to accept the work';
    case 'ticket.approved':
      return describeDecision(
        details,
        details['approval'] === 'plan' ? 'approved the plan' : 'accepted the work',
      );
    case 'ticket.declined':
      return describeDecision(
        details,
        details['approval'] === 'plan' ? 'declined the plan' : 'declined the work',
      );
    case 'ticket.work_stale':
      return 'didn’t renew the claim, so it ended';
    case 'comment.deleted':
      return 'deleted a comment';
    case 'capture.attached':
      return 'attached a capture';
    case 'capture.bug_chosen':
      return `chose the bug: ${String(details['bug'])}`;
    case 'capture.confirmed':
      return 'confirmed a capture of somebody without an account';
    case 'capture.expectation_added':
      return `said what is wrong: ${String(details['expectation'])}`;
    case 'capture.expectation_confirmed':
      return `confirmed what is wrong: ${String(details['expectation'])}`;
    case 'capture.expectation_removed':
      return `removed an expectation: ${String(details['expectation'])}`;
    case 'capture.deleted':
      return 'deleted a capture';
    case 'attachment.added':
      return details['name'] ? `attached ${String(details['name'])}` : 'attached a file, which was deleted';
    case 'attachment.deleted':
      return 'deleted an attached file';
    case 'annotations.saved':
      return details['redacted'] ? 'redacted an image' : 'annotated an image';
    case 'ticket.occurred':
      return `saw it again: ${String(details['occurrences'])} times`;
    case 'verification.added':
      return describeVerification(details as unknown as Verification);
    case 'criterion.added':
      return `added the criterion “${String(details['text'])}”`;
    case 'criterion.changed':
      return describeCriterionChange(details);
    case 'criterion.removed':
      return `removed the criterion “${String(details['text'])}”`;
    case 'evidence.added':
      return describeEvidence(details);
    default:
      return null;
  }
}

function describeCriterionChange({ text, from, state }: Record<string, unknown>): string {
  const changed = from ? [`changed the criterion “${String(from)}” to “${String(text)}”`] : [];
  const decided = state
    ? [`${state === 'waived' ? 'waived' : 'reopened'} the criterion “${String(text)}”`]
    : [];
  return joinWords([...changed, ...decided]);
}

function describeEvidence({ criterion, grade, passed }: Record<string, unknown>): string {
  const about = `“${String(criterion)}”`;
  if (grade === 'accepted') return `accepted ${about}`;
  if (grade === 'stated') return `stated evidence for ${about}`;
  return `checked ${about}: ${passed ? 'passed' : 'failed'}`;
}

function nameTicket(id: unknown, names: Names): string {
  return names.ticket(String(id)) ?? String(id);
}

function describeLink(kind: unknown, other: string): string {
  switch (kind as TicketLink['kind']) {
    case 'blocks':
      return `marked this as blocking ${other}`;
    case 'blocked_by':
      return `marked this as blocked by ${other}`;
    case 'duplicates':
      return `marked this as a duplicate of ${other}`;
    case 'duplicated_by':
      return `marked ${other} as a duplicate of this`;
    case 'parent':
      return `made this part of ${other}`;
    case 'child':
      return `made ${other} part of this`;
    default:
      return `linked ${other}`;
  }
}

function describeUpdate(details: Record<string, unknown>): string {
  const fields = (details['fields'] as string[] | undefined) ?? [];
  const changes = (details['changes'] as Record<string, Change> | undefined) ?? {};
  return joinWords(fields.map((field) => describeFieldChange(field, changes[field] ?? {})));
}

function describeFieldChange(field: string, { from, to }: Change): string {
  switch (field) {
    case 'title':
      return `changed the title from “${String(from)}” to “${String(to)}”`;
    case 'priority':
      return `set the priority to ${PRIORITIES.find(({ value }) => value === to)?.label ?? String(to)}`;
    case 'due_on':
      return to ? `set the due date to ${formatDay(String(to))}` : 'removed the due date';
    case 'resolved':
      return to ? 'resolved the ticket' : 'reopened the ticket';
    case 'labels':
      return describeLabelChange((from as string[]) ?? [], (to as string[]) ?? []);
    case 'description':
      return 'edited the description';
    default:
      return to ? `set the ${field} to ${String(to)}` : `removed the ${field}`;
  }
}

function describeLabelChange(from: string[], to: string[]): string {
  const added = to.filter((label) => !from.includes(label)).map((label) => `“${label}”`);
  const removed = from.filter((label) => !to.includes(label)).map((label) => `“${label}”`);
  return joinWords([
    ...(added.length ? [`added the ${pluralize('label', added)} ${joinWords(added)}`] : []),
    ...(removed.length ? [`removed the ${pluralize('label', removed)} ${joinWords(removed)}`] : []),
    ...(added.length + removed.length === 0 ? ['reordered the labels'] : []),
  ]);
}

function describeDecision(details: Record<string, unknown>, words: string): string {
  return details['note'] ? `${words}: ${String(details['note'])}` : words;
}

function pluralize(word: string, of: unknown[]): string {
  return of.length === 1 ? word : `${word}s`;
}

function columnLabel(end: unknown, columnName: (id: string) => string | undefined): string | undefined {
  const id = (end as { column_id?: string | null } | undefined)?.column_id;
  return id ? columnName(id) : undefined;
}

function listPeople(users: unknown, event: Event): string {
  const named = (users as { id: string; name: string }[] | undefined) ?? [];
  return joinWords(named.map(({ id, name }) => (id === event.by.user.id ? 'themselves' : name)));
}
