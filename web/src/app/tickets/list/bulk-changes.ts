import { describeError } from '../../core/server/problem';

/** What became of one of several tickets. */
export interface Outcome {
  id: string;
  ok: boolean;
  why?: string;
}

/** Change tickets one after the other, where there is no bulk call. One that fails doesn't stop the others. */
export async function changeEach(
  ids: string[],
  change: (params: { path: { ticket_id: string } }) => Promise<unknown>,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const id of ids) {
    try {
      await change({ path: { ticket_id: id } });
      outcomes.push({ id, ok: true });
    } catch (error) {
      outcomes.push({ id, ok: false, why: describeError(error) });
    }
  }
  return outcomes;
}
