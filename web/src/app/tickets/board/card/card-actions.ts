import { EDITS } from '../../fields';

/** What can be done with a card or the selected cards: by key, on the card and in the selection's bar. */
export const CARD_ACTIONS = [...EDITS, { name: 'archive', key: 'e', label: 'Archive' }] as const;

/** What can be done with the selected cards only. */
export const SEND_TO_AGENT = { name: 'agent', key: null, label: 'Send to agent' } as const;

export type CardAction = (typeof CARD_ACTIONS)[number]['name'] | typeof SEND_TO_AGENT.name;
