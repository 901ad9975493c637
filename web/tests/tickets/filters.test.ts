import { describe, expect, test } from 'vitest';
import type { Ticket } from '../../generated/api';
import {
  matchesFilters,
  parseFilters,
  toggleFilter,
  toQuery,
  type Filters,
} from '../../src/app/tickets/list/filters';
import { ticket } from './tickets';

const NONE: Filters = {
  assignee: [],
  label: [],
  unlabeled: null,
  priority: [],
  resolved: null,
  due: null,
};

test('filters are parsed from the query of the address', () => {
  expect(parseFilters(new URLSearchParams('assignee=me,usr_1&priority=high&q=x&label='))).toEqual({
    ...NONE,
    assignee: ['me', 'usr_1'],
    priority: ['high'],
  });
});

test('filters become the query of list_tickets', () => {
  expect(toQuery(NONE)).toEqual({});
  expect(toQuery({ ...NONE, label: ['ui', 'bug'], resolved: 'false' })).toEqual({
    label: ['ui', 'bug'],
    resolved: false,
  });
  expect(toQuery({ ...NONE, resolved: 'true' }).resolved).toBe(true);
  expect(toQuery({ ...NONE, due: 'none', unlabeled: 'true' })).toEqual({
    has_due_date: false,
    has_labels: false,
  });
  expect(toQuery({ ...NONE, due: 'overdue' })).toMatchObject({
    resolved: false,
    due_before: expect.stringMatching(/^\d{4}-\d{2}-\d{2}$/),
  });
});

describe('toggleFilter', () => {
  const toggle = (
    filters: Partial<Filters>,
    ...[name, value]: [Parameters<typeof toggleFilter>[1], string]
  ) => toggleFilter({ ...NONE, ...filters }, name, value);
  test('adds and removes values', () => {
    expect(toggle({}, 'priority', 'high')).toEqual({ priority: 'high' });
    expect(toggle({ priority: ['high'] }, 'priority', 'low')).toEqual({ priority: 'high,low' });
    expect(toggle({ priority: ['high', 'low'] }, 'priority', 'high')).toEqual({ priority: 'low' });
    expect(toggle({ priority: ['high'] }, 'priority', 'high')).toEqual({ priority: null });
    expect(toggle({ due: 'overdue' }, 'due', 'none')).toEqual({ due: 'none' });
    expect(toggle({ due: 'none' }, 'due', 'none')).toEqual({ due: null });
  });
  test('a label and no label exclude each other', () => {
    expect(toggle({ unlabeled: 'true' }, 'label', 'ui')).toEqual({ label: 'ui', unlabeled: null });
    expect(toggle({ label: ['ui'] }, 'unlabeled', 'true')).toEqual({ unlabeled: 'true', label: null });
  });
});

describe('matchesFilters', () => {
  const assigned = { assignees: [{ id: 'ann', name: 'Ann' }] } as Partial<Ticket>;
  test.each<[string, Partial<Filters>, Partial<Ticket>, boolean]>([
    ['no filter', {}, {}, true],
    ['assigned to me', { assignee: ['me'] }, assigned, true],
    ['assigned to me, but nobody is', { assignee: ['me'] }, {}, false],
    ['assigned to another person', { assignee: ['bob'] }, assigned, false],
    ['assigned to one of several', { assignee: ['bob', 'ann'] }, assigned, true],
    ['to me or nobody', { assignee: ['me', 'none'] }, {}, true],
    ['unassigned', { assignee: ['none'] }, assigned, false],
    ['label', { label: ['UI'] }, { labels: ['ui', 'cart'] }, true],
    ['one of several labels', { label: ['x', 'cart'] }, { labels: ['ui', 'cart'] }, true],
    ['none of several labels', { label: ['x', 'y'] }, { labels: ['ui'] }, false],
    ['without labels', { unlabeled: 'true' }, {}, true],
    ['without labels, but has one', { unlabeled: 'true' }, { labels: ['ui'] }, false],
    ['other label', { label: ['u'] }, { labels: ['ui'] }, false],
    ['priority', { priority: ['high'] }, { priority: 'high' }, true],
    ['one of several priorities', { priority: ['low', 'high'] }, { priority: 'high' }, true],
    ['other priority', { priority: ['high'] }, { priority: 'low' }, false],
    ['open', { resolved: 'false' }, { resolved: false }, true],
    ['open, but resolved', { resolved: 'false' }, { resolved: true }, false],
    ['overdue', { due: 'overdue' }, { due_on: '2020-01-01' }, true],
    ['without due date', { due: 'none' }, {}, true],
    ['without due date, but due', { due: 'none' }, { due_on: '2999-01-01' }, false],
    ['overdue, but done', { due: 'overdue' }, { due_on: '2020-01-01', resolved: true }, false],
    ['overdue, but not due yet', { due: 'overdue' }, { due_on: '2999-01-01' }, false],
    ['one of two filters', { label: ['ui'], priority: ['high'] }, { labels: ['ui'] }, false],
  ])('%s', (_, filters, fields, matches) => {
    expect(matchesFilters(ticket('t', fields), { ...NONE, ...filters }, 'ann')).toBe(matches);
  });
});
