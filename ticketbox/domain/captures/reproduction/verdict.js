// @ts-check
/** The verdict on a run: nothing else decides whether the bug happened. */
import { isFoundByRequests } from './failures.js';

/**
 * @typedef {{ number: number, reason: string }} Obstacle Why a run says nothing, and from which step on.
 * @typedef {'reproduced' | 'gone' | 'different_error' | 'not_reached'} Verdict
 * @typedef {{ verdict: Verdict, stopped_at: number | null, reason: string | null }} Judgement
 */

/**
 * Judge a run. A captured error proves the bug even if it made the next step impossible; a run that stopped for any other
 * reason says nothing, and so do a failure after an outdated answer and a run whose harness failed.
 * @param {any} expected expected.json
 * @param {{ diverged: boolean, outdated: boolean, uncertain: boolean, different: string | null }} observed `different`: how
 *   the server failed, if not as in the capture.
 * @param {{ broken: Obstacle | null, obstacle: Obstacle | null, bug: string | null, other: string | null }} found
 *   What the harness itself failed at, what kept the run from the bug, the bug, and another error of the page.
 * @returns {Judgement}
 */
export function judge(expected, observed, { broken, obstacle, bug, other }) {
  const says = (/** @type {Verdict} */ verdict, /** @type {string | null} */ reason = null) => ({
    verdict,
    stopped_at: null,
    reason,
  });
  const stopped = broken ?? (bug !== null && expected.errors.length ? null : obstacle);
  const another = other === null ? '' : `there is another error: ${other.split('\n')[0]}`;
  if (stopped)
    return {
      verdict: 'not_reached',
      stopped_at: stopped.number,
      reason: [stopped.reason, ...(another && bug === null ? [another] : [])].join('; '),
    };
  if (observed.outdated && (bug ?? other) !== null)
    return says(
      'not_reached',
      'the page changed something, then read it, and the capture has only an older answer',
    );
  if (bug !== null && observed.uncertain && isFoundByRequests(expected))
    return says(
      'not_reached',
      'the capture lacks what was sent with the request that failed, and the page may have sent something else',
    );
  if (bug !== null) return says('reproduced');
  if (observed.different) return says('different_error', observed.different);
  if (observed.diverged)
    return says('not_reached', 'the capture lacks answers that the API at BASE_URL gives differently');
  if (other === null) return says('gone');
  const { browser } = expected;
  const origin = browser ? ` (the capture is from ${browser}, which words errors in another way)` : '';
  return says('different_error', another + origin);
}
