import { expect, test } from 'vitest';
import type { Notification } from '../../generated/api';
import { divideGroups, findMorning, groupByTicket } from '../../src/app/events/inbox-groups';

const now = new Date(2026, 5, 15, 12).getTime();

function notification(id: string, ticket: string, hoursAgo: number, read = false): Notification {
  const at = new Date(now - hoursAgo * 3_600_000).toISOString();
  return { id, ticket_id: ticket, at, read } as Notification;
}

const items = [
  notification('n5', 't-b', 1),
  notification('n4', 't-a', 2, true),
  notification('n3', 't-b', 3, true),
  notification('n2', 't-c', 20),
  notification('n1', 't-a', 30),
];

test('groups are in the order of their newest notification', () => {
  const groups = groupByTicket(items);
  expect(groups.map(({ id, newest }) => [id, newest.id])).toEqual([
    ['t-b', 'n5'],
    ['t-a', 'n4'],
    ['t-c', 'n2'],
  ]);
  expect(groups.map(({ unread }) => unread.map(({ id }) => id))).toEqual([['n5'], ['n1'], ['n2']]);
});

test('what waits for an answer comes first, whenever it was asked', () => {
  const sections = divideGroups(groupByTicket(items), (ticket) => ticket === 't-c', now);
  expect(sections.map(({ title, groups }) => [title, groups.map(({ id }) => id)])).toEqual([
    ['Needs your answer', ['t-c']],
    ['Today', ['t-b', 't-a']],
  ]);
});

test('yesterday is earlier, and empty sections are left out', () => {
  const sections = divideGroups(groupByTicket([notification('n1', 't-a', 13)]), () => false, now);
  expect(sections.map(({ title }) => title)).toEqual(['Earlier']);
});

test('a snooze ends at nine in the morning, where the person is', () => {
  expect(findMorning(1, new Date(2026, 11, 31, 23, 59))).toEqual(new Date(2027, 0, 1, 9));
  expect(findMorning(7, new Date(2026, 11, 1, 0, 1))).toEqual(new Date(2026, 11, 8, 9));
});
