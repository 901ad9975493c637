/**
 * How the replay recorder, which runs in the page's JavaScript world, and the script that reads it find each other, as
 * the recorder does (../channel.ts). It starts when it has its options, which only the extension's background knows.
 */

/** Dispatched by the replay recorder when it is there. */
export const REPLAY_READY = 'ticketbox:replay';
/** Carries the name of the channel. */
export const REPLAY_CHANNEL = 'ticketbox:replay-channel';

/** The names of the events on a channel, in their order. The first and the third carry nothing, the others JSON. */
export function nameReplayEvents(channel: string): {
  connected: string;
  start: string;
  request: string;
  answer: string;
} {
  return {
    connected: `${channel}:connected`,
    start: `${channel}:start`,
    request: `${channel}:request`,
    answer: `${channel}:answer`,
  };
}

export interface ReplayOptions {
  /** How many seconds are kept; 0 records nothing. */
  seconds: number;
  /** CSS selectors of parts that aren't shown. */
  masks: string[];
}

/** What the replay recorder has. */
export interface ReplayRecord {
  problem: 'slowdown' | 'error' | null;
  /** Whether the document had loaded before the recorder started. */
  startedLate: boolean;
  /** Whether the recorder was stopped for its cost, and began again. */
  wasStopped: boolean;
  /** Whether events are missing because of the size. */
  isCut: boolean;
  events: ReplayEvent[];
}

/** An event of a replay, as rrweb writes it. */
export type ReplayEvent = { type: number; timestamp: number; data: unknown };
