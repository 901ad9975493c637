import type { NetworkEntry } from '../../../../generated/api';

/** From the start of the first request to the end of the last, in epoch milliseconds. */
export interface TimeRange {
  from: number;
  to: number;
}

/** The time range of all requests, at least one millisecond long. A pending request counts with its start. */
export function timeRange(entries: NetworkEntry[]): TimeRange {
  let [from, to] = [Infinity, -Infinity];
  for (const { ts, duration_ms } of entries) {
    from = Math.min(from, ts);
    to = Math.max(to, ts + (duration_ms ?? 0));
  }
  return { from, to: Math.max(to, from + 1) };
}

/** A request's bar in percent of the range. The bar of a pending request reaches to the end. */
export function waterfallBar(
  { ts, duration_ms }: NetworkEntry,
  { from, to }: TimeRange,
): { left: string; width: string } {
  const percent = (ms: number) => `${((ms / (to - from)) * 100).toFixed(2)}%`;
  return { left: percent(ts - from), width: percent(duration_ms ?? to - ts) };
}
