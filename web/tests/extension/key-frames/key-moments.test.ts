import { expect, test } from 'vitest';
import { chooseMoments } from '../../../src/extension/key-frames/key-moments';
import type { Streams } from '../../../src/recorder/capture-types';

const error = (ts: number, kind = 'error') => ({ ts, kind });
const request = (ts: number, duration_ms: number, status: number | null, problem: string | null = null) => ({
  ts,
  duration_ms,
  status,
  error: problem,
});
const streams = (parts: object) =>
  ({ console: [], errors: [], network: [], actions: [], ...parts }) as unknown as Streams;

test('the first error, failed requests and the last click are chosen, in order', () => {
  const found = streams({
    errors: [error(9_000), error(5_000), error(3_000, 'csp')],
    network: [request(1_000, 1_000, 500), request(2_500, 500, null, 'failed'), request(4_000, 10, 200)],
    actions: [
      { ts: 11_000, kind: 'click' },
      { ts: 12_000, kind: 'scroll' },
    ],
  });
  expect(chooseMoments(found, 0, 20_000)).toEqual([2_250, 3_250, 5_250, 9_250, 11_250]);
});

test('moments are at least a second apart, within the replay, and at most five', () => {
  const errors = [900, 1_000, 1_900, 2_000, 3_000, 4_000, 5_000, 6_000, 99_000].map((ts) => error(ts));
  expect(chooseMoments(streams({ errors }), 1_000, 10_000)).toEqual([1_250, 2_250, 3_250, 4_250, 5_250]);
  expect(chooseMoments(streams({ errors: [error(10_100)] }), 1_000, 10_000.5)).toEqual([10_000]);
  expect(chooseMoments(streams({}), 0, 9)).toEqual([]);
});
