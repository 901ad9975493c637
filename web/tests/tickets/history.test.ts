import { expect, test } from 'vitest';
import type { Event } from '../../generated/api';
import { describeEvent } from '../../src/app/tickets/activity/history';

const COLUMNS: Record<string, string> = { col_1: 'To do', col_2: 'Done' };

function describe(type: string, data: Record<string, unknown>): string | null {
  const event = { type, data, by: { user: { id: 'ann', name: 'Ann' } } } as unknown as Event;
  return describeEvent(event, (id) => COLUMNS[id]);
}

const update = (field: string, from: unknown, to: unknown) =>
  describe('ticket.updated', { fields: [field], changes: { [field]: { from, to } } });

test('a move names both columns', () => {
  expect(describe('ticket.moved', { from: { column_id: 'col_1' }, to: { column_id: 'col_2' } })).toBe(
    'moved the ticket from To do to Done',
  );
  expect(describe('ticket.moved', { from: { column_id: 'gone' }, to: { column_id: 'col_2' } })).toBe(
    'moved the ticket from another column to Done',
  );
  expect(
    describe('ticket.moved', {
      to: { column_id: 'col_2' },
      changes: { resolved: { from: false, to: true } },
    }),
  ).toBe('moved the ticket to Done and resolved it');
});

test('updates describe each changed field', () => {
  expect(update('title', 'Old', 'New')).toBe('changed the title from “Old” to “New”');
  expect(update('priority', 'none', 'high')).toBe('set the priority to High');
  expect(update('resolved', false, true)).toBe('resolved the ticket');
  expect(update('resolved', true, false)).toBe('reopened the ticket');
  expect(update('labels', ['a', 'b'], ['b', 'c', 'd'])).toBe(
    'added the labels “c” and “d” and removed the label “a”',
  );
  expect(update('labels', ['a', 'b'], ['b', 'a'])).toBe('reordered the labels');
  expect(describe('ticket.updated', { fields: ['title', 'description'], changes: {} })).toBe(
    'changed the title from “undefined” to “undefined” and edited the description',
  );
});

test('an assignment to the author reads as such', () => {
  const users = [
    { id: 'ann', name: 'Ann' },
    { id: 'bob', name: 'Bob' },
  ];
  expect(describe('ticket.assigned', { users })).toBe('assigned themselves and Bob');
});

test('other events are left to the rest of the page', () => {
  expect(describe('comment.created', {})).toBeNull();
});
