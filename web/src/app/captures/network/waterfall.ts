import type { NetworkEntry } from '../../../../generated/api';
import { formatDuration } from '../format';
import { isFailed } from './requests';

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

/** The marks of the time axis: the start, two between, and the end. */
export function axisMarks({ from, to }: TimeRange): { label: string; left: string }[] {
  return [0, 1, 2, 3].map((part) => ({
    label: formatDuration(((to - from) * part) / 3),
    left: `${((part * 100) / 3).toFixed(2)}%`,
  }));
}

/** The colours of bars: part of the chart, so the same wherever they appear. */
export const BAR_COLORS = {
  data: 'light-dark(oklch(0.74 0.07 265), oklch(0.56 0.09 265))',
  script: 'light-dark(oklch(0.82 0.1 85), oklch(0.6 0.09 82))',
  image: 'light-dark(oklch(0.78 0.08 157), oklch(0.55 0.08 157))',
  failed: 'var(--error-fill)',
};

/** What the colour of a request's bar says about it. */
export function barKind(entry: NetworkEntry): keyof typeof BAR_COLORS {
  if (isFailed(entry)) return 'failed';
  return entry.type === 'script' || entry.type === 'image' ? entry.type : 'data';
}
