import { describe, expect, test } from 'vitest';
import type { Streams } from '../../src/recorder/capture-types';
import { findChosen, listFailures } from '../../src/extension/draft/choose-bug';
import { suggestReport } from '../../src/extension/pages/popup/draft/suggest-report';
import type { Draft } from '../../src/extension/storage';

const request = {
  method: 'POST',
  url: 'https://shop.example/pay?id=1',
  status: 500,
  error: null,
  type: 'fetch',
};
const streams = {
  console: [
    { seq: 1, ts: 1, level: 'error', args: ['no updates'] },
    { seq: 2, ts: 2, level: 'warn', args: ['cart is empty'] },
  ],
  network: [
    { ...request, id: 'r1', ts: 5 },
    { ...request, id: 'r2', ts: 6, type: 'image', url: 'https://cdn.example/logo.png', status: 404 },
    { ...request, id: 'r3', ts: 7, status: 200 },
  ],
  errors: [
    { seq: 3, ts: 8, kind: 'error', name: 'TypeError', message: 'no cart' },
    { seq: 4, ts: 9, kind: 'error', name: 'TypeError', message: 'no cart' },
    { seq: 5, ts: 10, kind: 'csp', message: 'inline code' },
  ],
  actions: [{ seq: 9, ts: 3, kind: 'click', target: { role: 'button', name: 'Pay' } }],
} as unknown as Streams;

describe('listFailures', () => {
  test('lists what a test can look for, newest first and once; parts of the page are under the others', () => {
    const { shown, others } = listFailures(streams);
    expect(shown.map(({ stream, entry, text }) => [stream, entry, text])).toEqual([
      ['errors', '4', 'TypeError: no cart'],
      ['network', 'r1', 'POST shop.example/pay: 500'],
      ['console', '1', 'no updates'],
    ]);
    expect(others.map(({ entry }) => entry)).toEqual(['r2']);
  });

  test('older failures are under the others', () => {
    const many = [1, 2, 3, 4, 5, 6, 7].map((seq) => ({
      ...streams.errors[0]!,
      seq,
      ts: seq,
      message: `${seq}`,
    }));
    const { shown, others } = listFailures({ ...streams, console: [], network: [], errors: many });
    expect([shown.length, others.map(({ entry }) => entry)]).toEqual([5, ['2', '1']]);
  });
});

test('what was removed from the report isn’t sent as the bug', () => {
  const bug = { stream: 'errors', entry: '4' } as const;
  expect(findChosen({ streams, bug })).toEqual(bug);
  expect(findChosen({ streams: { ...streams, errors: [] }, bug })).toBeUndefined();
  expect(findChosen({ streams })).toBeUndefined();
});

test('the suggested title names the chosen failure', () => {
  const envelope = { page: { url: 'https://shop.example/cart', title: 'Cart' } };
  const suggest = (bug?: object) => suggestReport({ envelope, streams, bug } as unknown as Draft).title;
  expect(suggest()).toBe('TypeError after clicking “Pay”');
  expect(suggest({ stream: 'network', entry: 'r1' })).toBe('POST shop.example/pay: 500 after clicking “Pay”');
  expect(suggest({ stream: 'console', entry: '1' })).toBe('no updates');
});
