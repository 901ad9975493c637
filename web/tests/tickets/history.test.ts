import { expect, test } from 'vitest';
import type { Event } from '../../generated/api';
import { describeEvent } from '../../src/app/tickets/activity/history';

const COLUMNS: Record<string, string> = { col_1: 'To do', col_2: 'Done' };
const TICKETS: Record<string, string> = { 't-1': 'WEB-1' };

function describe(type: string, data: Record<string, unknown>): string | null {
  const event = { type, data, by: { user: { id: 'ann', name: 'Ann' } } } as unknown as Event;
  return describeEvent(event, { column: (id) => COLUMNS[id], ticket: (id) => TICKETS[id] });
}

const update = (field: string, from: unknown, to: unknown) =>
  describe('ticket.updated', { fields: [field], changes: { [field]: { from, to } } });

test('criteria and their evidence', () => {
  const text = 'The total is right';
  expect(describe('criterion.added', { text })).toBe(`added the criterion “${text}”`);
  expect(describe('criterion.changed', { text, state: 'waived' })).toBe(`waived the criterion “${text}”`);
  expect(describe('criterion.changed', { text, from: 'Right' })).toBe(
    `changed the criterion “Right” to “${text}”`,
  );
  expect(describe('evidence.added', { criterion: text, grade: 'checked', passed: false })).toBe(
    `checked “${text}”: failed`,
  );
  expect(describe('evidence.added', { criterion: text, grade: 'accepted' })).toBe(`accepted “${text}”`);
});

test('a move names both columns', () => {
  expect(describe('ticket.moved', { from: { column_id: 'col_1' }, to: { column_id: 'col_2' } })).toBe(
    'moved the ticket from To do to Done',
  );
  expect(describe('ticket.moved', { from: { column_id: 'gone' }, to: { column_id: 'col_2' } })).toBe(
    'moved the ticket to Done',
  );
  expect(
    describe('ticket.moved', {
      to: { column_id: 'col_2' },
      changes: { resolved: { from: false, to: true } },
    }),
  ).toBe('moved the ticket to Done and resolved it');
});

test('a link says what the tickets are to each other', () => {
  const link = (kind: string, other = 't-1') => describe('ticket.linked', { kind, other });
  expect(link('blocked_by')).toBe('marked this as blocked by WEB-1');
  expect(link('duplicated_by')).toBe('marked WEB-1 as a duplicate of this');
  expect(link('child')).toBe('made WEB-1 part of this');
  expect(link('relates', 't-2')).toBe('linked t-2');
  expect(describe('ticket.unlinked', { kind: 'blocks', other: 't-2' })).toBe('removed the link to t-2');
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
