import { expect, test } from 'vitest';
import { joinHistory, mergeStreams } from '../../src/extension/capture/merge-streams';
import { NO_HISTORY } from '../../src/extension/tab-recording/tab-history';
import { frameRecord, line, readFrame, request } from './frames';

test('entries of all frames are in order of time, with the address of their frame', () => {
  const top = readFrame(0, frameRecord({ console: [line(1), line(4)] }));
  const child = readFrame(7, frameRecord({ console: [line(2), line(3)] }));
  const { console } = joinHistory(NO_HISTORY, mergeStreams([top, child], null, 0));
  expect(console.map(({ ts, seq, frame }) => [ts, seq, frame])).toEqual([
    [1, 1, null],
    [2, 2, 'https://shop.example/7'],
    [3, 3, 'https://shop.example/7'],
    [4, 4, null],
  ]);
});

test('a frame that is not recorded adds nothing', () => {
  expect(mergeStreams([readFrame(0, null)], null, 0)).toEqual({
    console: [],
    network: [],
    errors: [],
    actions: [],
  });
});

test('requests since deep recording started are those of the debugger', () => {
  const page = readFrame(0, frameRecord({ network: [request(1), request(5)], console: [line(6)] }));
  const deepRecord = frameRecord({ network: [request(4), request(6)] });
  const { network, console } = joinHistory(NO_HISTORY, mergeStreams([page], deepRecord, 4));
  expect(network.map(({ ts, id }) => [ts, id])).toEqual([
    [1, 'r1'],
    [4, 'r2'],
    [6, 'r3'],
  ]);
  expect(console).toHaveLength(1);
});
