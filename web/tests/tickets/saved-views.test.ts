import { describe, expect, test } from 'vitest';
import type { SavedView } from '../../generated/api';
import { keepFilters, parseFilters } from '../../src/app/tickets/list/filters';
import { isUnusual, parseDisplay, toDisplayQuery } from '../../src/app/tickets/views/display';
import { isChanged, toAddress, toDefinition } from '../../src/app/tickets/views/saved-views';

/** What the app saves for an address. */
function readDefinition(address: string) {
  const [path, text] = address.split('?') as [string, string];
  const layout = path.endsWith('/table') ? 'table' : 'board';
  const query = new URLSearchParams(text);
  return toDefinition(layout, parseFilters(query), parseDisplay(query, layout));
}

function buildView(address: string): SavedView {
  return {
    ...readDefinition(address),
    id: 'view_1',
    company_id: 'co_1',
    project_id: 'proj_1',
    name: 'View',
    shared: false,
    created: { user: { id: 'usr_1', name: 'Ann' }, token_id: null, token_label: null, via: 'web', at: '' },
  };
}

describe('a saved view', () => {
  test.each([
    '/projects/proj_1?assignee=me%2Cnone&label=bug&priority=high&resolved=false',
    '/projects/proj_1/table?unlabeled=true&due=overdue&sort=-priority&group=assignee&density=compact',
    '/projects/proj_1/table?due=none&fields=key%2Ccreated',
    '/projects/proj_1?fields=none',
  ])('opens the address that it was saved from: %s', (address) => {
    const view = buildView(address);
    const again = toAddress(view);
    expect(readDefinition(again)).toEqual(readDefinition(address));
    expect(again).toMatch(/view=view_1$/);
    expect(isChanged(view, readDefinition(again))).toBe(false);
  });

  test('is changed by a filter, an order and a field', () => {
    const view = buildView('/projects/proj_1/table?label=bug');
    for (const more of ['&priority=high', '&sort=due', '&fields=key', '&group=label'])
      expect(isChanged(view, readDefinition(`/projects/proj_1/table?label=bug${more}`))).toBe(true);
  });
});

describe('a display', () => {
  test('without parameters is the usual one', () => {
    const display = parseDisplay(new URLSearchParams(), 'table');
    expect(display).toMatchObject({ sort: null, group: null, density: 'comfortable' });
    expect(Object.values(toDisplayQuery(display, 'table'))).toEqual([null, null, null, null]);
    expect(isUnusual(display, 'table')).toBe(false);
  });

  test('keeps fields that the address names', () => {
    const usual = parseDisplay(new URLSearchParams(), 'board');
    const without = { ...usual, fields: usual.fields.filter((each) => each !== 'picture') };
    expect(without.fields).not.toContain('picture');
    expect(toDisplayQuery(without, 'board').fields).not.toBeNull();
    expect(toDisplayQuery({ ...without, fields: [...without.fields, 'picture'] }, 'board').fields).toBeNull();
  });

  test('leaves out what it does not know', () => {
    const query = new URLSearchParams('fields=key,shoe&group=title');
    expect(parseDisplay(query, 'table')).toMatchObject({ fields: ['key'], group: null });
  });

  test('a board has its own order, and no swimlanes for its columns', () => {
    const query = new URLSearchParams('sort=due&group=label');
    expect(parseDisplay(query, 'board')).toMatchObject({ sort: null, group: 'label' });
    query.set('group', 'column');
    expect(parseDisplay(query, 'board')).toMatchObject({ sort: null, group: null });
  });
});

test('another layout keeps the filters alone', () => {
  const query = new URLSearchParams('label=bug&sort=due&view=view_1&density=compact');
  expect(keepFilters(query)).toBe('?label=bug');
  expect(keepFilters(new URLSearchParams('sort=due'))).toBe('');
});
