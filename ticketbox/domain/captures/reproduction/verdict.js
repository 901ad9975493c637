// @ts-check
/** The verdict on a run: nothing else decides whether the bug happened. */
import { isFoundByRequests } from './failures.js';
import { NO_SERVER } from './server.js';

const MAX_SHOWN = 200;

/**
 * @typedef {{ number: number, reason: string }} Obstacle Why a run says nothing, and from which step on.
 * @typedef {'reproduced' | 'gone' | 'different_error' | 'not_reached'} Verdict
 * @typedef {{ verdict: Verdict, stopped_at: number | null, reason: string | null }} Judgement
 */

/** What is compared with what was seen; the rest is wrong, or it isn't. */
const COMPARED = new Set(['text', 'value', 'count', 'attribute', 'same_as', 'url', 'title']);

/**
 * Judge what the page is like against what a person expects of it.
 * @param {import('./checks.js').Expectation} expectation @param {import('./checks.js').Check} [check] None: the test
 *   doesn't check it.
 * @returns {{ verdict: Verdict, reason: string }}
 */
export function judgeCheck({ is, seen: wrong, words }, check) {
  const says = (/** @type {Verdict} */ verdict, /** @type {string} */ text) => ({
    verdict,
    reason: `${words}: ${text}`,
  });
  if (!check) return says('not_reached', 'the test lacks this check');
  const { holds, problem, seen } = check;
  if (problem) return says('not_reached', problem);
  if (holds) return says('gone', 'it is');
  const shown = seen === null ? '' : `it is “${seen.slice(0, MAX_SHOWN)}”`;
  if (!COMPARED.has(is) || wrong === null || seen === wrong) return says('reproduced', shown || "it isn't");
  if (is === 'count' && seen === '0') return says('not_reached', "the element isn't there");
  return says('different_error', shown || "it isn't there");
}

/**
 * Judge a run. A captured error proves the bug even if it made the next step impossible; a run that stopped for any other
 * reason says nothing, and so do a failure after an outdated answer and a run whose harness failed.
 * @param {any} expected expected.json
 * @param {{ diverged: boolean, outdated: boolean, uncertain: boolean, different: string | null, absent?: boolean }} observed
 *   `different`: how the server failed, if not as in the capture; `absent`: the recording answered for it.
 * @param {{ broken: Obstacle | null, obstacle: Obstacle | null, bug: string | null, other: string | null,
 *   checks?: import('./checks.js').Check[] }} found What the harness itself failed at, what kept the run from the bug, the
 *   bug, another error of the page, and what the page is like in place of what is expected, in that order.
 * @returns {Judgement}
 */
export function judge(expected, observed, { broken, obstacle, bug, other, checks = [] }) {
  const judged = (expected.expectations ?? []).map(
    (/** @type {import('./checks.js').Expectation} */ each, /** @type {number} */ index) =>
      judgeCheck(each, checks[index]),
  );
  const find = (/** @type {Verdict} */ verdict) =>
    judged.find((/** @type {any} */ each) => each.verdict === verdict);
  const wrong = find('reproduced');
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
  if (observed.outdated && (bug !== null || other !== null || judged.some(isUnlike)))
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
  if (wrong) return observed.absent ? says('not_reached', NO_SERVER) : says('reproduced');
  const unlike = find('not_reached') ?? find('different_error');
  if (unlike) return says(unlike.verdict, unlike.reason);
  if (observed.different) return says('different_error', observed.different);
  if (observed.diverged)
    return says('not_reached', 'the capture lacks answers that the API at BASE_URL gives differently');
  if (other === null) return says('gone');
  const { browser } = expected;
  const origin = browser ? ` (the capture is from ${browser}, which words errors in another way)` : '';
  return says('different_error', another + origin);
}

/** @param {{ verdict: Verdict }} judged */
function isUnlike({ verdict }) {
  return verdict !== 'gone';
}
