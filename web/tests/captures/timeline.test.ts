import { describe, expect, test } from 'vitest';
import { countErrors } from '../../src/app/captures/console/errors';
import {
  findTrouble,
  formatClock,
  mergeStreams,
  selectMoments,
} from '../../src/app/captures/timeline/timeline';
import { findNavigations } from '../../src/app/captures/navigation';
import example from '../../../tests/domain/captures/timeline.json';
import type { ConsoleEntry, ErrorEntry, NetworkEntry, Step } from '../../generated/api';

const line = (ts: number, level: string, ...args: string[]) => ({ seq: ts, ts, level, args }) as ConsoleEntry;
const request = (ts: number, status: number | null, error?: string) =>
  ({
    id: `r${ts}`,
    ts,
    method: 'POST',
    url: 'https://shop.example/api/quote?x=1',
    status,
    error,
    duration_ms: status ? 48 : null,
  }) as NetworkEntry;
const failure = (ts: number, count = 1, name = 'TypeError') =>
  ({ seq: ts, ts, kind: 'error', name, message: 'nothing', count }) as ErrorEntry;

const step = (ts: number, kind: string, words: string) => ({ number: ts, ts, kind, words }) as Step;

describe('timeline', () => {
  const moments = mergeStreams(
    [line(1_000, 'log', 'started', 'now'), line(5_000, 'warn', 'price missing')],
    [request(2_000, 200), request(9_000, 422), request(9_500, null, 'net::ERR_FAILED')],
    [failure(6_000, 5)],
    [step(500, 'click', 'Clicked button “Add”'), step(9_900, 'scroll', 'Scrolled the page')],
  );

  test('merges streams by time and describes each moment', () => {
    expect(moments.map(({ text, extent, tone }) => [text, extent, tone].join('|'))).toEqual([
      'Clicked button “Add”||strong',
      'started now||plain',
      'POST /api/quote?x=1|200 · 48 ms|quiet',
      'price missing||warn',
      'TypeError: nothing|×5|error',
      'POST /api/quote?x=1|422 · 48 ms|error',
      'POST /api/quote?x=1|Failed|error',
      'Scrolled the page||quiet',
    ]);
    expect(new Set(moments.map(({ key }) => key)).size).toBe(8);
  });

  test('merges streams as the server does', () => {
    const words = new Map(example.moments.map(([name, text]) => [name, text]));
    const merged = mergeStreams(
      example.console as unknown as ConsoleEntry[],
      example.network as unknown as NetworkEntry[],
      example.errors as unknown as ErrorEntry[],
      example.actions.map((each) => ({
        ...each,
        number: each.seq,
        words: words.get(`actions ${each.seq}`),
      })) as unknown as Step[],
    );
    const kinds = { step: 'actions', request: 'network', console: 'console', error: 'errors' };
    const pages = findNavigations(merged.map(({ entry }) => entry));
    const name = ({ kind, key }: (typeof merged)[number]) => key.replace(/^\w+-/, `${kinds[kind]} `);
    expect(
      merged.map((each, place) => [
        name(each),
        each.text,
        ...(['error', 'warn'].includes(each.tone) ? ['failed'] : []),
        ...(pages.has(place) ? ['page'] : []),
      ]),
    ).toEqual(example.moments);
    expect(name(findTrouble(merged)!)).toBe(example.first_failure);
  });

  test('selects problems, and what is around the first error', () => {
    expect(selectMoments(moments, 'problems')).toHaveLength(4);
    expect(selectMoments(moments, 'steps')).toHaveLength(2);
    expect(selectMoments(moments, 'around').map(({ ts }) => ts)).toEqual([5_000, 6_000]);
    expect(selectMoments(moments.slice(0, 2), 'around')).toHaveLength(2);
  });

  test('finds an error of the page before a failed request before a line of the console', () => {
    const [, , , , error, failed] = moments;
    expect(findTrouble(moments)).toBe(error);
    expect(findTrouble(moments.filter((each) => each !== error))).toBe(failed);
    expect(findTrouble(mergeStreams([line(1, 'error', 'x')], [], [], []))?.text).toBe('x');
    expect(findTrouble([])).toBeUndefined();
  });

  test.each([
    [0, '0:00.0'],
    [11_540, '0:11.5'],
    [59_960, '1:00.0'],
    [723_400, '12:03.4'],
    [-2_000, '−0:02.0'],
    [-20, '0:00.0'],
  ])('writes %d ms as %s', (ms, text) => {
    expect(formatClock(ms)).toBe(text);
  });
});

test('errors are counted by their name', () => {
  const counts = countErrors([failure(1, 2), failure(2, 4, 'RangeError'), failure(3, 1, ''), failure(4)]);
  expect(counts).toEqual([
    { name: 'RangeError', count: 4 },
    { name: 'TypeError', count: 3 },
    { name: 'Error', count: 1 },
  ]);
});

test('a page begins at its first entry, even if the page before it still logs', () => {
  const documents = [2, 2, 3, 2, 3, 4].map((document) => ({ document }));
  expect([...findNavigations(documents)]).toEqual([2, 5]);
  expect(findNavigations([{}, {}]).size).toBe(0);
});
