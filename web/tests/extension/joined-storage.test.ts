import { expect, test } from 'vitest';
import { joinStored } from '../../src/extension/tab-recording/tab-history';

test('each document has only what no earlier one began with', () => {
  const joined = joinStored([
    { document: 0, local: { theme: 'dark' }, session: {}, cookies: ['a'] },
    { document: 1, local: { theme: 'light' }, session: {}, cookies: ['a'] },
    { document: 2, local: { theme: 'light', token: 'aaa' }, session: { theme: '1' }, cookies: ['a'] },
  ]);
  expect(joined).toEqual([
    { document: 0, local: { theme: 'dark' }, session: {}, cookies: ['a'] },
    { document: 2, local: { token: 'aaa' }, session: { theme: '1' }, cookies: ['a'] },
  ]);
});

test('the first document stays, also if it began with nothing', () => {
  const empty = { document: 0, local: {}, session: {}, cookies: [] };
  expect(joinStored([empty, { ...empty, document: 1 }])).toEqual([empty]);
});
