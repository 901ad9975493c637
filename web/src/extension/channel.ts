/**
 * How relay and collector find each other: two scripts in the same document that share nothing but its events.
 *
 * Whoever comes second calls; the relay then names a channel that no page can guess. All of this is over before the
 * page's first script runs.
 */
export const CALL = 'ticketbox:collector';
export const NAME = 'ticketbox:channel';

/**
 * What the collector is called in stacks, instead of its address in the extension.
 *
 * Under that address, Chromium takes every line that a page logs for the extension's own: it writes out a whole stack
 * for it and reports it as the extension's error.
 */
export const COLLECTOR = 'ticketbox:collect.js';
