import type { Notification } from '../../../generated/api';

/** The notifications about a ticket, newest first. */
export interface InboxGroup {
  /** The ticket's id. */
  id: string;
  newest: Notification;
  items: Notification[];
  unread: Notification[];
}

export interface InboxSection {
  title: string;
  groups: InboxGroup[];
}

export const REASONS: Record<Notification['reason'], string> = {
  mention: 'mentioned you',
  assignment: 'assigned you',
  reply: 'commented',
  question: 'has a question',
  approval: 'asks for approval',
};

/** Nine in the morning, so many days from now, where the device is. */
export function findMorning(days: number, now = new Date()): Date {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, 9);
}

/** Group notifications, newest first, by ticket. */
export function groupByTicket(items: Notification[]): InboxGroup[] {
  const groups = new Map<string, Notification[]>();
  for (const item of items) groups.set(item.ticket_id, [...(groups.get(item.ticket_id) ?? []), item]);
  return [...groups].map(([id, members]) => ({
    id,
    newest: members[0]!,
    items: members,
    unread: members.filter(({ read }) => !read),
  }));
}

/** Divide groups: those that wait for an answer, those of today, and earlier ones. `now` is epoch milliseconds. */
export function divideGroups(
  groups: InboxGroup[],
  isWaiting: (ticket: string) => boolean,
  now: number,
): InboxSection[] {
  const today = new Date(now).toDateString();
  const isToday = ({ newest }: InboxGroup) => new Date(newest.at).toDateString() === today;
  const others = groups.filter(({ id }) => !isWaiting(id));
  return [
    { title: 'Needs your answer', groups: groups.filter(({ id }) => isWaiting(id)) },
    { title: 'Today', groups: others.filter(isToday) },
    { title: 'Earlier', groups: others.filter((group) => !isToday(group)) },
  ].filter((section) => section.groups.length > 0);
}
