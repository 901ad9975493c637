import { describe, expect, test } from 'vitest';
import { countErrors } from '../../src/app/captures/console/errors';
import { formatClock, mergeStreams, selectMoments } from '../../src/app/captures/timeline/timeline';
import { findBug, findRow, tellStory } from '../../src/app/captures/timeline/story';
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
  });

  test('selects problems and steps', () => {
    expect(selectMoments(moments, 'problems')).toHaveLength(4);
    expect(selectMoments(moments, 'steps')).toHaveLength(2);
  });

  test('tells one failure in one row, with its line in the console and its element', () => {
    const url = 'https://shop.example/lamp.png';
    const image = {
      ...request(2_000, null, 'net::ERR_CERT'),
      id: 'image',
      method: 'GET',
      url,
      type: 'image',
    };
    const printed = { ...line(2_050, 'error', 'Failed to load resource: net::ERR_CERT'), source: url };
    const element = { ...failure(2_100), kind: 'resource' as const, source: url };
    const story = tellStory(mergeStreams([printed, line(2_200, 'error', 'mine')], [image], [element], []));
    expect(story.map(({ key, others }) => [key, others.length])).toEqual([
      ['request-image', 2],
      ['console-2200', 0],
    ]);
    expect(findRow(story, 'error-2100')?.key).toBe('request-image');
  });

  test('folds the files of each page, and what a browser asks for itself is never a problem', () => {
    const file = (ts: number, name: string, type: string, status = 200, document = 0) =>
      ({
        ...request(ts, status),
        method: 'GET',
        url: `https://shop.example/${name}`,
        type,
        document,
      }) as NetworkEntry;
    const icon = {
      ...line(60, 'error', 'Failed to load resource: 404'),
      source: 'https://shop.example/favicon.ico',
    };
    const story = tellStory(
      mergeStreams(
        [icon],
        [
          file(10, 'app.js', 'script'),
          file(20, 'app.css', 'stylesheet'),
          file(30, 'favicon.ico', 'image', 404),
          file(40, 'app.js.map', 'other', 404),
          file(50, 'broken.js', 'script', 500),
          file(90, 'next.js', 'script', 200, 1),
        ],
        [],
        [],
      ),
    );
    expect(story.map(({ text, tone, others }) => [text, tone, others.length])).toEqual([
      ['5 files loaded', 'quiet', 5],
      ['GET /broken.js', 'error', 0],
      ['GET /next.js', 'quiet', 0],
    ]);
  });

  test('shows first the bug that the server names, else the last failure before the capture', () => {
    const story = tellStory(moments);
    expect(findBug(story, { stream: 'errors', entry: '6000' })?.key).toBe('error-6000');
    expect(findBug(story, null)?.key).toBe('request-r9500');
    expect(findBug(story, { stream: 'errors', entry: '1' })?.key).toBe('request-r9500');
    expect(findBug([], null)).toBeUndefined();
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
