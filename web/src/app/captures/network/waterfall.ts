import type { NetworkEntry, Step } from '../../../../generated/api';
import { formatNumber } from '../../ui/time/dates';
import { formatDuration } from '../format';
import { isMinorStep } from '../steps';
import { isFailed } from '../../../shared/failures';

/** From the start of the first request to the end of the last, in epoch milliseconds. */
export interface TimeRange {
  from: number;
  to: number;
}

const LEAST_SHARE = 0.1; // of the time until the capture: requests in less of it would be one stroke
const AFTER_CAPTURE = 0.04; // room for the line, as a share of the time until the capture

/**
 * The time range of all requests, at least one millisecond long, and up to the capture unless that is long after them.
 * A pending request counts with its start.
 */
export function timeRange(entries: NetworkEntry[], captured = -Infinity): TimeRange {
  let [from, to] = [Infinity, -Infinity];
  for (const { ts, duration_ms } of entries) {
    from = Math.min(from, ts);
    to = Math.max(to, ts + (duration_ms ?? 0));
  }
  to = Math.max(to, from + 1);
  const whole = captured - from;
  if (whole > to - from && to - from >= whole * LEAST_SHARE) to = captured + whole * AFTER_CAPTURE;
  return { from, to };
}

/** What the axis shows beside the requests, in per cent of the range. */
export interface Marks {
  /** What the person did. */
  actions: number[];
  captured: { left: number; label: string } | null;
  /** The same as lines: the layers of a background. */
  lines: string;
}

const MOST_ACTIONS = 40; // more are no marks but a pattern

/** Find the marks of a range: the person's actions, without minor ones, and the moment of the capture. */
export function findMarks(steps: Step[], captured: number, { from, to }: TimeRange): Marks {
  const place = (ts: number) => Math.round((10_000 * (ts - from)) / (to - from)) / 100;
  const times = steps.filter((step) => !isMinorStep(step)).map(({ ts }) => place(ts));
  const actions = [...new Set(times)].filter((left) => left >= 0 && left <= 100).slice(0, MOST_ACTIONS);
  const isShown = captured > from && captured <= to;
  const end = isShown ? { left: place(captured), label: formatDuration(captured - from) } : null;
  const layers = actions.map(
    (left) => `linear-gradient(var(--accent-line) 0 0) ${left}% 0 / 1px 100% no-repeat`,
  );
  if (end)
    layers.push(
      `repeating-linear-gradient(var(--accent-line) 0 6px, transparent 6px 10px) ${end.left}% 0 / 2px 100% no-repeat`,
    );
  return { actions, captured: end, lines: layers.join(', ') || 'none' };
}

/** A request's bar in percent of the range. The bar of a pending request reaches to the end. */
export function waterfallBar(
  { ts, duration_ms }: NetworkEntry,
  { from, to }: TimeRange,
): { left: string; width: string } {
  const percent = (ms: number) => `${((ms / (to - from)) * 100).toFixed(2)}%`;
  return { left: percent(ts - from), width: percent(duration_ms ?? to - ts) };
}

const MOST_STEPS = 4;

/** The distance of the marks of the time axis: 1, 2 or 5 times a power of ten, in milliseconds. */
export function axisStep({ from, to }: TimeRange): number {
  const least = Math.max(1, (to - from) / MOST_STEPS);
  const power = 10 ** Math.floor(Math.log10(least));
  return power * ([1, 2, 5].find((factor) => factor * power >= least) ?? 10);
}

/** The marks of the time axis, in round figures; without one that has no room before the end. */
export function axisMarks(range: TimeRange): { label: string; left: string }[] {
  const step = axisStep(range);
  const length = range.to - range.from;
  const count = Math.floor((length * 0.95) / step) + 1;
  return Array.from({ length: count }, (_, index) => ({
    label: step < 1_000 ? `${formatNumber(index * step)} ms` : `${formatNumber((index * step) / 1_000)} s`,
    left: `${((index * step * 100) / length).toFixed(2)}%`,
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
