/**
 * How relay and collector find each other: two scripts in the same document that share nothing but its events.
 *
 * Whoever comes second calls; the relay then names a channel that no page can guess. All of this is over before the
 * page's first script runs.
 */
export const CALL = 'ticketbox:collector';
export const NAME = 'ticketbox:channel';
