import { expect, test } from 'vitest';
import { joinHistory, mergeStreams } from '../../src/extension/capture/merge-streams';
import { NO_HISTORY } from '../../src/extension/tab-recording/tab-history';
import { frameRecord, line, readFrame } from './frames';

test('entries of all frames are in order of time, with the address of their frame', () => {
  const top = readFrame(0, frameRecord({ console: [line(1), line(4)] }));
  const child = readFrame(7, frameRecord({ console: [line(2), line(3)] }));
  const { console } = joinHistory(NO_HISTORY, mergeStreams([top, child]));
  expect(console.map(({ ts, seq, frame }) => [ts, seq, frame])).toEqual([
    [1, 1, null],
    [2, 2, 'https://shop.example/7'],
    [3, 3, 'https://shop.example/7'],
    [4, 4, null],
  ]);
});

test('a frame that is not recorded adds nothing', () => {
  const nothing = { console: [], network: [], errors: [], actions: [] };
  expect(mergeStreams([readFrame(0, null)])).toEqual(nothing);
});
