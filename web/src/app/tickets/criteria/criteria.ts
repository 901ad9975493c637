import type { Criterion, Evidence } from '../../../../generated/api';
import { api, unwrap } from '../../core/server/client';

export type Tone = 'agent' | 'ok' | 'error' | 'accent';

/** What is said of evidence by its grade and result. */
export function readGrade({ grade, passed }: Pick<Evidence, 'grade' | 'passed'>): {
  label: string;
  tone: Tone;
} {
  if (grade === 'stated') return { label: 'Stated', tone: 'agent' };
  if (grade === 'accepted') return { label: 'Accepted', tone: 'accent' };
  return passed ? { label: 'Passed', tone: 'ok' } : { label: 'Failed', tone: 'error' };
}

/** Format how long a command ran. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${ms} ms`;
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${(ms / 1000).toFixed(1)} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** Whether a person could still accept it: no person has, or what they saw is stale. */
export function canAccept({ state, evidence }: Criterion): boolean {
  return state !== 'waived' && !evidence.some(({ grade, stale }) => grade === 'accepted' && !stale);
}

/** Add a criterion, or change the text of one. Raises Problem. */
export async function saveCriterion(
  ticket: string,
  text: string,
  criterion: Criterion | null,
): Promise<void> {
  if (criterion === null)
    await unwrap(
      api.POST('/tickets/{ticket_id}/criteria', { params: { path: { ticket_id: ticket } }, body: { text } }),
    );
  else if (text !== criterion.text) await changeCriterion(criterion, { text });
}

/** Change the text of a criterion, waive it, or open it again. Raises Problem. */
export async function changeCriterion(
  { id }: Criterion,
  body: { text?: string; state?: 'open' | 'waived' },
): Promise<void> {
  await unwrap(api.PATCH('/criteria/{criterion_id}', { params: { path: { criterion_id: id } }, body }));
}

/** Accept that a criterion is met. Raises Problem. */
export async function acceptCriterion({ id }: Criterion): Promise<void> {
  const params = { path: { criterion_id: id } };
  await unwrap(api.POST('/criteria/{criterion_id}/accept', { params, body: {} }));
}

/** Remove a criterion and its evidence. Raises Problem. */
export async function removeCriterion({ id }: Criterion): Promise<void> {
  await api.DELETE('/criteria/{criterion_id}', { params: { path: { criterion_id: id } } });
}
