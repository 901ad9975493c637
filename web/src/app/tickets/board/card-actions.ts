import Archive from '@lucide/svelte/icons/archive';
import Bot from '@lucide/svelte/icons/bot';
import CalendarDays from '@lucide/svelte/icons/calendar-days';
import SignalHigh from '@lucide/svelte/icons/signal-high';
import MoveRight from '@lucide/svelte/icons/move-right';
import Tag from '@lucide/svelte/icons/tag';
import User from '@lucide/svelte/icons/user';

/** What can be done with a card or the selected cards: by key, on the card and in the selection's bar. */
export const CARD_ACTIONS = [
  { name: 'assignee', key: 'a', label: 'Assign', icon: User },
  { name: 'priority', key: 'p', label: 'Priority', icon: SignalHigh },
  { name: 'label', key: 'l', label: 'Label', icon: Tag },
  { name: 'status', key: 's', label: 'Status', icon: MoveRight },
  { name: 'due', key: 'd', label: 'Due date', icon: CalendarDays },
  { name: 'archive', key: 'e', label: 'Archive', icon: Archive },
] as const;

/** What can be done with the selected cards only. */
export const SEND_TO_AGENT = { name: 'agent', key: null, label: 'Send to agent', icon: Bot } as const;

export type CardAction = (typeof CARD_ACTIONS)[number]['name'] | typeof SEND_TO_AGENT.name;
