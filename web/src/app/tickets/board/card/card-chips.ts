import type { ColumnKind, Ticket, ViewField } from '../../../../../generated/api';
import { readVerdict } from '../../verifications/verifications';

export type CardChip =
  | 'errors'
  | 'failed'
  | 'capture'
  | 'verdict'
  | 'blocked'
  | 'resolved'
  | 'pull_request'
  | 'criteria'
  | 'comments';

const MAX_CHIPS = 3;

/**
 * Choose what a card shows below its title: at most three chips, evidence first, as many labels as there is room for, then
 * the pull request and the comments, which are no chips. If the bug is verified as gone, the errors of the capture
 * are history; while it is reproduced, they say so.
 */
export function chooseChips(
  ticket: Ticket,
  kind: ColumnKind,
  fields: ViewField[],
  hasPicture: boolean,
): { chips: CardChip[]; maxLabels: number } {
  const has = (field: ViewField) => fields.includes(field);
  const verdict = has('verification') && ticket.verification && readVerdict(ticket.verification);
  const counts = has('evidence') && verdict !== 'gone' && ticket.capture?.counts;
  const isEmpty = counts && !hasPicture && !counts.errors && !counts.failed_requests;
  const isSaid = verdict === 'reproduced' && counts && (counts.errors || counts.failed_requests);
  const chips = list([
    ['errors', counts && counts.errors],
    ['failed', counts && counts.failed_requests],
    ['capture', isEmpty],
    ['blocked', ticket.blocked_by.length],
    ['verdict', !isSaid && verdict],
    ['resolved', ticket.resolved && kind !== 'done'],
  ]).slice(0, MAX_CHIPS);
  const facts = list([
    ['pull_request', has('pull_request') && ticket.pull_request],
    ['criteria', ticket.criteria_count],
    ['comments', has('comments') && ticket.comment_count],
  ]);
  const shown = [...chips, ...facts];
  return { chips: shown, maxLabels: Math.max(0, MAX_CHIPS - shown.length) };
}

function list(candidates: [CardChip, unknown][]): CardChip[] {
  return candidates.flatMap(([chip, value]) => (value ? [chip] : []));
}
