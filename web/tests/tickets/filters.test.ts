import { describe, expect, test } from 'vitest';
import type { Ticket } from '../../generated/api';
import { matchesFilters, parseFilters, toQuery, type Filters } from '../../src/app/tickets/list/filters';
import { ticket } from './tickets';

const NONE: Filters = { assignee: null, label: null, priority: null, resolved: null, due: null };

test('filters are parsed from the query of the address', () => {
  expect(parseFilters(new URLSearchParams('assignee=me&priority=high&q=x'))).toEqual({
    ...NONE,
    assignee: 'me',
    priority: 'high',
  });
});

test('filters become the query of list_tickets', () => {
  expect(toQuery(NONE)).toEqual({});
  expect(toQuery({ ...NONE, label: 'ui', resolved: 'false' })).toEqual({ label: 'ui', resolved: false });
  expect(toQuery({ ...NONE, resolved: 'true' }).resolved).toBe(true);
  expect(toQuery({ ...NONE, due: 'overdue' })).toMatchObject({
    resolved: false,
    due_before: expect.stringMatching(/^\d{4}-\d{2}-\d{2}$/),
  });
});

describe('matchesFilters', () => {
  const assigned = { assignees: [{ id: 'ann', name: 'Ann' }] } as Partial<Ticket>;
  test.each<[string, Partial<Filters>, Partial<Ticket>, boolean]>([
    ['no filter', {}, {}, true],
    ['assigned to me', { assignee: 'me' }, assigned, true],
    ['assigned to me, but nobody is', { assignee: 'me' }, {}, false],
    ['assigned to another person', { assignee: 'bob' }, assigned, false],
    ['label', { label: 'ui' }, { labels: ['ui', 'cart'] }, true],
    ['other label', { label: 'u' }, { labels: ['ui'] }, false],
    ['priority', { priority: 'high' }, { priority: 'high' }, true],
    ['other priority', { priority: 'high' }, { priority: 'low' }, false],
    ['open', { resolved: 'false' }, { resolved: false }, true],
    ['open, but resolved', { resolved: 'false' }, { resolved: true }, false],
    ['overdue', { due: 'overdue' }, { due_on: '2020-01-01' }, true],
    ['overdue, but done', { due: 'overdue' }, { due_on: '2020-01-01', resolved: true }, false],
    ['overdue, but not due yet', { due: 'overdue' }, { due_on: '2999-01-01' }, false],
    ['one of two filters', { label: 'ui', priority: 'high' }, { labels: ['ui'] }, false],
  ])('%s', (_, filters, fields, matches) => {
    expect(matchesFilters(ticket('t', fields), { ...NONE, ...filters }, 'ann')).toBe(matches);
  });
});
