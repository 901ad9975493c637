import { expect, test } from 'vitest';
import { isRestrictedPage } from '../../src/extension/capture/restricted-pages';
import { isNewer } from '../../src/extension/connection/versions';
import {
  composeDescription,
  dropSuggestions,
  fillWithSuggestions,
} from '../../src/extension/draft/report-fields';

test.each([
  ['1.10.0', '1.9.0'],
  ['0.2.0.dev3', '0.1.9'],
  ['1.0.1', '1.0'],
])('%s is newer than %s', (version, other) => {
  expect(isNewer(version, other)).toBe(true);
  expect(isNewer(other, version)).toBe(false);
});

test('a version is not newer than itself', () => {
  expect(isNewer('1.2', '1.2.0')).toBe(false);
});

test.each(['view-source:https://shop.example/', 'chrome://settings', 'about:config', '', undefined])(
  '%s allows no extension',
  (url) => expect(isRestrictedPage({ url })).toBe(true),
);

test.each(['https://shop.example/', 'file:///tmp/a.html', 'about:blank', 'data:text/html,a'])(
  '%s may allow extensions',
  (url) => expect(isRestrictedPage({ url })).toBe(false),
);

test('a page that is loaded again keeps what the person entered and suggests the rest again', () => {
  const before = { title: 'Cart', steps: ['Opened /cart'] };
  const chosen = { project: 'proj_1', priority: 'high' as const, assignee: 'usr_1' };
  const entered = { title: 'Total is wrong', description: '', ...chosen };
  const fields = { ...before, ...entered };
  const carried = dropSuggestions(fields, before);
  expect(carried.steps).toEqual([]);
  const after = { title: 'TypeError', steps: ['Clicked “Pay”'] };
  expect(fillWithSuggestions(carried, after)).toEqual({ ...fields, steps: after.steps });
});

test('the description is what the person wrote, and the steps that are left', () => {
  const fields = {
    title: '',
    steps: [' Opened /cart ', '', 'Clicked “Pay”'],
    project: '',
    priority: 'none',
    assignee: '',
  } as const;
  const list = '1. Opened /cart\n2. Clicked “Pay”';
  const compose = (description: string) =>
    composeDescription({ ...fields, steps: [...fields.steps], description });
  expect(compose(' ')).toBe(list);
  expect(compose('No total ')).toBe(`No total\n\n**Steps to reproduce**\n\n${list}`);
  expect(composeDescription({ ...fields, steps: [], description: 'No total' })).toBe('No total');
});
