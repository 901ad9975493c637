import { expect, test } from 'vitest';
import type { Comment, Event } from '../../generated/api';
import { listEntries } from '../../src/app/tickets/activity/entries';

const COLUMNS: Record<string, string> = { col_1: 'To do', col_2: 'Done' };
const NAMES = { column: (id: string) => COLUMNS[id], ticket: () => undefined };
let count = 0;

function event(minute: number, type: string, data: object, user = 'ann', token: string | null = null): Event {
  const at = new Date(Date.UTC(2026, 0, 1, 9, minute)).toISOString();
  return {
    id: `evt_${++count}`,
    type,
    data,
    at,
    by: { user: { id: user }, token_id: token, at },
  } as unknown as Event;
}

function comment(minute: number): Comment {
  const at = new Date(Date.UTC(2026, 0, 1, 9, minute)).toISOString();
  return { id: `com_${++count}`, by: { at } } as Comment;
}

const priority = (minute: number, ...by: [string?, string?]) =>
  event(minute, 'ticket.updated', { fields: ['priority'], changes: { priority: { to: 'urgent' } } }, ...by);
const assignment = (minute: number) =>
  event(minute, 'ticket.assigned', { users: [{ id: 'jon', name: 'Jonas' }] });
const edit = (minute: number) => event(minute, 'ticket.updated', { fields: ['description'] });
const move = (minute: number, resolved?: boolean) =>
  event(minute, 'ticket.moved', {
    from: { column_id: 'col_1' },
    to: { column_id: 'col_2' },
    ...(resolved === undefined ? {} : { changes: { resolved: { from: !resolved, to: resolved } } }),
  });

function texts(history: Event[], comments: Comment[] = []): string[] {
  return listEntries(comments, history, NAMES).map((entry) =>
    'comment' in entry ? entry.comment.id : entry.change.text,
  );
}

test('changes of one person within ten minutes are one sentence', () => {
  expect(texts([priority(0), assignment(2), edit(9)])).toEqual([
    'set the priority to Urgent, assigned Jonas and edited the description',
  ]);
  expect(texts([priority(0), assignment(10)])).toHaveLength(2);
});

test('repeated changes are counted', () => {
  expect(texts([edit(0), edit(1), edit(2)])).toEqual(['edited the description 3 times']);
});

test('other people, tokens and comments separate changes', () => {
  expect(texts([priority(0), priority(1, 'bob')])).toHaveLength(2);
  expect(texts([priority(0), priority(1, 'ann', 'tok_1')])).toHaveLength(2);
  const said = comment(1);
  expect(texts([priority(0), priority(2)], [said])).toEqual([
    'set the priority to Urgent',
    said.id,
    'set the priority to Urgent',
  ]);
});

test('what an agent reports stays a separate line', () => {
  expect(texts([event(0, 'ticket.work_started', { branch: 'fix' }), priority(1)])).toEqual([
    'started work on fix',
    'set the priority to Urgent',
  ]);
});

test('a move that resolves says so, and is marked as done', () => {
  const [entry] = listEntries([], [move(0, true)], NAMES);
  expect(entry).toMatchObject({
    change: { text: 'moved the ticket from To do to Done and resolved it', isDone: true },
  });
  expect(texts([move(0, false)])).toEqual(['moved the ticket from To do to Done and reopened it']);
  expect(texts([priority(0), move(1)])).toEqual([
    'set the priority to Urgent and moved it from To do to Done',
  ]);
});
