import { expect, test } from 'vitest';
import {
  chooseNextSpeed,
  findOpening,
  markMoments,
  measureReplay,
  placeTime,
} from '../../src/app/captures/replay/replay';
import type { Moment } from '../../src/app/captures/timeline/timeline';

const event = (timestamp: number) => ({ type: 3, timestamp, data: {} });
const moment = (key: string, ts: number, kind: string, tone: string) =>
  ({ key, ts, kind, tone, text: key, extent: '', entry: {} }) as unknown as Moment;

test('a replay is as long as its events', () => {
  expect(measureReplay([event(1000), event(1500), event(4000)])).toEqual({ start: 1000, length: 3000 });
  expect(measureReplay([event(1000)])).toEqual({ start: 1000, length: 1 });
  expect(measureReplay([])).toEqual({ start: 0, length: 1 });
});

test('times outside of a replay are at its ends', () => {
  expect([500, 2500, 9000].map((ts) => placeTime(ts, 1000, 3000))).toEqual([0, 1500, 3000]);
});

test('errors, failed requests and steps are marked, as far as the replay shows them', () => {
  const moments = [
    moment('before', 500, 'step', 'strong'),
    moment('step', 1000, 'step', 'quiet'),
    moment('fine', 1500, 'request', 'quiet'),
    moment('failed', 2000, 'request', 'error'),
    moment('line', 2100, 'console', 'error'),
    moment('error', 3000, 'error', 'error'),
    moment('after', 3100, 'error', 'error'),
  ];
  expect(markMoments(moments, 1000, 2000)).toEqual([
    { key: 'step', at: 0, kind: 'step', text: 'step' },
    { key: 'failed', at: 0.5, kind: 'problem', text: 'failed' },
    { key: 'error', at: 1, kind: 'problem', text: 'error' },
  ]);
});

test('the speed changes in turns', () => {
  expect([1, 2, 4, 0.5, 3].map(chooseNextSpeed)).toEqual([2, 4, 0.5, 1, 1]);
});

test('a replay opens three seconds before a failure, but at no page without its styles', () => {
  const page = (timestamp: number) => ({ type: 2, timestamp, data: {} });
  const style = (timestamp: number) => ({
    type: 3,
    timestamp,
    data: { source: 0, adds: [], attributes: [{ attributes: { _cssText: 'a {}' } }] },
  });
  const events = [page(1000), event(1100), style(2500), event(8000), event(20000)];
  expect(findOpening(events, 12000)).toBe(9000);
  expect(findOpening(events, 4500)).toBe(2500);
  expect(findOpening(events, 2000)).toBe(2000);
  expect(findOpening([page(1000), event(1100)], 1500)).toBe(1000);
  expect(findOpening([page(1000), page(9000), style(9400), event(20000)], 12300)).toBe(9400);
});
