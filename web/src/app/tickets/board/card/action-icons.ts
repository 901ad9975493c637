import Archive from '@lucide/svelte/icons/archive';
import Bot from '@lucide/svelte/icons/bot';
import CalendarDays from '@lucide/svelte/icons/calendar-days';
import SignalHigh from '@lucide/svelte/icons/signal-high';
import MoveRight from '@lucide/svelte/icons/move-right';
import Tag from '@lucide/svelte/icons/tag';
import User from '@lucide/svelte/icons/user';
import type { Component } from 'svelte';
import type { CardAction } from './card-actions';

/** The icons of what can be done with cards, loaded with the first button. */
export const ACTION_ICONS: Record<CardAction, Component<{ size?: number }>> = {
  assignee: User,
  priority: SignalHigh,
  label: Tag,
  status: MoveRight,
  due: CalendarDays,
  archive: Archive,
  agent: Bot,
};
