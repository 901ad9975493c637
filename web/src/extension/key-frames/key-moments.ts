/** Choosing the moments of a replay that get a picture. */
import type { Streams } from '../../recorder/capture-types';

export const MAX_MOMENTS = 5;
const MIN_GAP_MS = 1_000;
/** How long a page has to show what happened. */
const SETTLE_MS = 250;

/**
 * The times of the key moments, in epoch milliseconds, in order: of the first error, the failed requests, the other
 * errors, and the last action. They are within `start` and `end`, and at least a second apart.
 */
export function chooseMoments({ errors, network, actions }: Streams, start: number, end: number): number[] {
  const uncaught = errors.filter(({ kind }) => kind === 'error' || kind === 'unhandledrejection');
  const [firstError, ...otherErrors] = uncaught.map(({ ts }) => ts).sort((a, b) => a - b);
  const failures = network
    .filter(({ status, error }) => (status ?? 0) >= 400 || (error && !status))
    .map(({ ts, duration_ms: duration }) => ts + (duration ?? 0));
  const lastAction = actions.findLast(({ kind }) => kind === 'click' || kind === 'submit' || kind === 'key');
  const candidates = [firstError, ...failures, ...otherErrors, lastAction?.ts].filter(
    (each) => each !== undefined,
  );
  const chosen: number[] = [];
  for (const ts of candidates) {
    const at = Math.floor(Math.min(ts + SETTLE_MS, end));
    if (ts < start || ts > end + SETTLE_MS || chosen.length === MAX_MOMENTS) continue;
    if (chosen.every((each) => Math.abs(each - at) >= MIN_GAP_MS)) chosen.push(at);
  }
  return chosen.sort((a, b) => a - b);
}
