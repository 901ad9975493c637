import { beforeEach, describe, expect, test } from 'vitest';
import type { Column, TicketDetail } from '../../generated/api';
import { BoardModel, Lane } from '../../src/app/tickets/board/board-model.svelte';
import { ticket } from './tickets';

let board: BoardModel;

/** The board as one line per lane: `todo: a b`. */
function layout(): string[] {
  return board.lanes.map(({ column, tickets }) =>
    [`${column.id}:`, ...tickets.map(({ id }) => id)].join(' '),
  );
}

beforeEach(() => {
  board = new BoardModel('proj_1', {
    assignee: [],
    label: [],
    unlabeled: null,
    priority: [],
    resolved: null,
    due: null,
  });
  board.lanes = ['todo', 'doing', 'done'].map((id) => new Lane({ id, name: id } as Column));
  board.lanes[0]!.tickets = [
    ticket('a', { position: 2 }),
    ticket('b', { position: 4 }),
    ticket('c', { position: 6 }),
  ];
  board.lanes[2]!.tickets = [ticket('z', { column_id: 'done', position: 2 })];
});

describe('upsert', () => {
  test('inserts a new ticket by its position', () => {
    board.upsert(ticket('new', { position: 3 }), 'me');
    expect(layout()[0]).toBe('todo: a new b c');
  });

  test('appends the last ticket only if the lane is loaded to its end', () => {
    board.upsert(ticket('last', { position: 24 }), 'me');
    expect(layout()[0]).toBe('todo: a b c last');
    board.lanes[0]!.cursor = 'next page';
    board.upsert(ticket('further', { position: 25 }), 'me');
    expect(layout()[0]).toBe('todo: a b c last');
  });

  test('moves a ticket to another column', () => {
    board.upsert(ticket('a', { version: 2, column_id: 'done', position: 1 }), 'me');
    expect(layout()).toEqual(['todo: b c', 'doing:', 'done: a z']);
  });

  test('replaces a ticket in place', () => {
    board.upsert(ticket('b', { version: 2, position: 4, title: 'New title' }), 'me');
    expect(layout()[0]).toBe('todo: a b c');
    expect(board.find('b')!.ticket.title).toBe('New title');
  });

  test('ignores an older version', () => {
    board.upsert(ticket('b', { version: 3, position: 4, title: 'Newer' }), 'me');
    board.upsert(ticket('b', { version: 2, position: 1, title: 'Older' }), 'me');
    expect(layout()[0]).toBe('todo: a b c');
    expect(board.find('b')!.ticket.title).toBe('Newer');
  });

  test('removes a ticket that is archived or no longer passes the filters', () => {
    board.upsert(ticket('a', { version: 2, status: 'archived' }), 'me');
    expect(layout()[0]).toBe('todo: b c');
    board.filters.label = ['ui'];
    board.upsert(ticket('b', { version: 2, labels: [] }), 'me');
    expect(layout()[0]).toBe('todo: c');
  });
});

describe('move', () => {
  test.each<[string, { column: string; before: string | null }, boolean, string[]]>([
    ['a', { column: 'todo', before: 'c' }, true, ['todo: b a c', 'doing:', 'done: z']],
    ['a', { column: 'todo', before: null }, true, ['todo: b c a', 'doing:', 'done: z']],
    ['b', { column: 'done', before: 'z' }, true, ['todo: a c', 'doing:', 'done: b z']],
    ['b', { column: 'doing', before: null }, true, ['todo: a c', 'doing: b', 'done: z']],
    ['b', { column: 'todo', before: 'c' }, false, ['todo: a b c', 'doing:', 'done: z']],
    ['b', { column: 'todo', before: 'b' }, false, ['todo: a b c', 'doing:', 'done: z']],
    ['b', { column: 'unknown', before: null }, false, ['todo: a b c', 'doing:', 'done: z']],
    ['unknown', { column: 'todo', before: null }, false, ['todo: a b c', 'doing:', 'done: z']],
  ])('%s to %o', (id, position, moved, expected) => {
    expect(board.move(id, position)).toBe(moved);
    expect(layout()).toEqual(expected);
  });

  test('sets the column of the ticket', () => {
    board.move('a', { column: 'done', before: null });
    expect(board.find('a')!.ticket.column_id).toBe('done');
  });

  test('back to the old position restores the board', () => {
    const from = board.positionOf('b')!;
    board.move('b', { column: 'done', before: null });
    board.move('b', from);
    expect(layout()).toEqual(['todo: a b c', 'doing:', 'done: z']);
  });
});

describe('keyboard', () => {
  test.each<[string, number, number, string | undefined]>([
    ['a', 0, 1, 'b'],
    ['a', 0, -1, undefined],
    ['c', 0, 1, undefined],
    ['c', 1, 0, 'z'], // skips the empty lane, and takes the last ticket of a shorter one
    ['z', -1, 0, 'a'],
    ['a', -1, 0, undefined],
  ])('from %s by %i, %i', (id, across, down, expected) => {
    expect(board.ticketBeside(id, across, down)).toBe(expected);
  });

  test.each<[string, number, number, string[]]>([
    ['a', 0, 1, ['todo: b a c', 'doing:', 'done: z']],
    ['b', 0, 1, ['todo: a c b', 'doing:', 'done: z']],
    ['b', 0, -1, ['todo: b a c', 'doing:', 'done: z']],
    ['b', 1, 0, ['todo: a c', 'doing: b', 'done: z']],
    ['z', -1, 0, ['todo: a b c', 'doing: z', 'done:']],
  ])('moves %s by %i, %i', (id, across, down, expected) => {
    board.move(id, board.positionBeside(id, across, down)!);
    expect(layout()).toEqual(expected);
  });

  test('a card stays at the edge of the board', () => {
    expect(board.positionBeside('a', -1, 0)).toBeUndefined();
    expect(board.positionBeside('a', 0, -1)).toBeUndefined();
    expect(board.positionBeside('c', 0, 1)).toBeUndefined();
  });
});

describe('neighbourOf', () => {
  test('names the next ticket', () => {
    expect(board.neighbourOf('b')).toEqual({ before: 'c' });
  });

  test('names none at the end of a column', () => {
    expect(board.neighbourOf('c')).toEqual({});
  });

  test('names the previous ticket at the end of what is loaded', () => {
    board.lanes[0]!.cursor = 'next page';
    expect(board.neighbourOf('c')).toEqual({ after: 'b' });
  });
});

describe('blockers', () => {
  const showBlocked = (id: string) =>
    board.upsert(ticket(id, { position: 2, blocked_by: [{ id: 'c', key: 'WEB-3' }] }), 'me');
  const blocker = (fields: Partial<TicketDetail>) => {
    const links = ['a', 'b', 'unseen'].map((id) => ({ kind: 'blocks', ticket: { id } }));
    return { ...ticket('c'), links, ...fields } as TicketDetail;
  };

  test('cards name who blocks them', () => {
    showBlocked('a');
    expect(board.ticketsBlockedBy('c')).toEqual(['a']);
    expect(board.ticketsBlockedBy('z')).toEqual([]);
  });

  test('a reopened blocker changes the cards that do not name it yet', () => {
    showBlocked('a');
    expect(board.ticketsNewlyBlockedBy(blocker({}))).toEqual(['b']);
    expect(board.ticketsNewlyBlockedBy(blocker({ resolved: true }))).toEqual([]);
    expect(board.ticketsNewlyBlockedBy(blocker({ status: 'archived' }))).toEqual([]);
  });
});
