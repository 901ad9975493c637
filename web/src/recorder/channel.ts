/**
 * How the recorder, which runs in the page's JavaScript world, and the script that reads it find each other: they share
 * only the document's events.
 *
 * Whichever of the two starts second dispatches the first event. The reader then sends the name of a channel that no
 * page can guess. All of this happens before the page's first script runs.
 */
import type { ReadOptions } from './capture-types';

export const RECORDER_READY = 'ticketbox:recorder';
export const CHANNEL_NAME = 'ticketbox:channel';

/** The fragment of addresses that the extension loads in the page, which aren't the page's own requests. */
export const OWN_LOAD_MARK = 'ticketbox-source-map';

/** The name of the event that carries the answer to a request on a channel. */
export function getAnswerEventName(channel: string): string {
  return `${channel}!`;
}

/** What a request on a channel carries: text, because a script's objects don't reach the other world in Firefox. */
export function formatReadOptions({ since, limit }: ReadOptions): string {
  return `${since} ${limit}`;
}

export function parseReadOptions(text: string): ReadOptions {
  const [since, limit] = text.split(' ').map(Number);
  return { since: since!, limit: limit! };
}

/**
 * The name of the recorder and of the replay recorder in stack traces, set by a `sourceURL` comment in place of the script's address.
 *
 * With an address in the extension, Chromium attributes every line that a page logs to the extension: it writes out
 * the whole stack and lists the line among the extension's errors.
 */
export const RECORDER_SOURCE = 'ticketbox:recorder.js';
