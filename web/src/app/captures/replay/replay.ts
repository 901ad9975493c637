import type { Moment } from '../timeline/timeline';

/** What a replay is made of, as the player reads it. */
export interface ReplayEvent {
  type: number;
  timestamp: number;
  data: unknown;
}

/** A mark above the scrubber. */
export interface Marker {
  key: string;
  /** From 0, the beginning, to 1. */
  at: number;
  kind: 'problem' | 'step';
  text: string;
}

const BEFORE_MS = 3_000; // of a failure is shown
const STYLING_MS = 4_000; // how long after a page was loaded its styles count as part of it
const SNAPSHOT = 2;
const CHANGE = 3;
const STYLE_SOURCES = [8, 13, 15]; // rules, declarations and adopted style sheets

/** Where a replay opens, in epoch milliseconds: a few seconds before a time, but never at a page without its styles. */
export function findOpening(events: ReplayEvent[], at: number): number {
  const before = at - BEFORE_MS;
  const pages = events.filter(({ type }) => type === SNAPSHOT);
  const page = pages.findLast(({ timestamp }) => timestamp <= before) ?? pages[0];
  if (!page) return before;
  const next = pages[pages.indexOf(page) + 1]?.timestamp ?? Infinity;
  const styled = events.findLast(
    (event) =>
      event.timestamp >= page.timestamp &&
      event.timestamp < Math.min(next, page.timestamp + STYLING_MS) &&
      (event === page || addsStyles(event)),
  )!;
  return Math.max(before, Math.min(at, styled.timestamp));
}

function addsStyles({ type, data }: ReplayEvent): boolean {
  if (type !== CHANGE) return false;
  const { source, adds, attributes } = data as { source: number; adds?: unknown[]; attributes?: unknown[] };
  if (STYLE_SOURCES.includes(source)) return true;
  return source === 0 && /"_cssText"|"tagName":"(style|link)"/.test(JSON.stringify([adds, attributes]));
}

export const SPEEDS = [1, 2, 4, 0.5] as const;

/** When a replay begins and how long it is, in milliseconds. */
export function measureReplay(events: ReplayEvent[]): { start: number; length: number } {
  const start = events[0]?.timestamp ?? 0;
  return { start, length: Math.max(1, (events.at(-1)?.timestamp ?? start) - start) };
}

/** Return the place of a time in a replay, between its beginning and its end. */
export function placeTime(ts: number, start: number, length: number): number {
  return Math.min(length, Math.max(0, ts - start));
}

/** Mark the errors, the failed requests and what the person did, as far as the replay shows them. */
export function markMoments(moments: Moment[], start: number, length: number): Marker[] {
  return moments.flatMap((moment) => {
    const at = (moment.ts - start) / length;
    const isProblem = moment.tone === 'error' && moment.kind !== 'console';
    if (at < 0 || at > 1 || !(isProblem || moment.kind === 'step')) return [];
    return [{ key: moment.key, at, kind: isProblem ? 'problem' : 'step', text: moment.text } as const];
  });
}

/** The speed after this one. */
export function chooseNextSpeed(speed: number): number {
  return SPEEDS[(SPEEDS.findIndex((each) => each === speed) + 1) % SPEEDS.length]!;
}
