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
