import { expect, test } from 'vitest';
import { describeHealth } from '../../src/extension/capture/health';
import type { FramesResult } from '../../src/extension/capture/frames';
import { NO_HISTORY, type TabHistory } from '../../src/extension/tab-recording/tab-history';
import { frameRecord, line, readFrame } from './frames';

const EMPTY = { console: [], network: [], errors: [], actions: [] };
const RECORDED = frameRecord();
const LATE = frameRecord({ startedLate: true });
const FULL = frameRecord({ dropped: { console: 3, network: 0, errors: 0, actions: 0 } });

test.each<[string, FramesResult, string, string | null]>([
  ['every frame is recorded', { frames: [readFrame(0, RECORDED, 1), readFrame(1, RECORDED)] }, 'ok', null],
  ['the page hangs', { reason: 'error' }, 'blocked', 'error'],
  ['the browser refuses', { reason: 'restricted_page' }, 'blocked', 'restricted_page'],
  ['the policy blocks the recorder', { frames: [readFrame(0, null)] }, 'blocked', 'csp'],
  ['the recorder started late', { frames: [readFrame(0, LATE)] }, 'partial', 'late_start'],
  [
    'a frame started late',
    { frames: [readFrame(0, RECORDED, 1), readFrame(1, LATE)] },
    'partial',
    'late_start',
  ],
  ['entries were dropped', { frames: [readFrame(0, FULL)] }, 'partial', 'limit'],
  [
    'a frame blocks the recorder',
    { frames: [readFrame(0, RECORDED, 1), readFrame(1, null)] },
    'partial',
    'csp',
  ],
  ['a frame cannot be read', { frames: [readFrame(0, RECORDED, 1)] }, 'partial', 'restricted_page'],
])('%s', (_, result, status, reason) => {
  expect(describeHealth(result, EMPTY, NO_HISTORY, null, false).console).toMatchObject({ status, reason });
});

test('entries are counted', () => {
  const streams = { ...EMPTY, console: [line(1), line(2)] };
  const health = describeHealth({ frames: [readFrame(0, FULL)] }, streams, NO_HISTORY, null, false);
  expect(health.console).toMatchObject({ captured: 2, dropped: 3 });
});

test('requests are complete if the debugger recorded all of them', () => {
  const frames = { frames: [readFrame(0, LATE)] };
  const health = describeHealth(frames, EMPTY, NO_HISTORY, frameRecord(), true);
  expect(health.network).toMatchObject({ status: 'ok', reason: null });
  expect(health.errors).toMatchObject({ status: 'partial', reason: 'late_start' });
});

test('requests that the debugger dropped make them incomplete', () => {
  const deepRecord = frameRecord({ dropped: { console: 0, network: 2, errors: 0, actions: 0 } });
  const health = describeHealth({ frames: [readFrame(0, RECORDED)] }, EMPTY, NO_HISTORY, deepRecord, true);
  expect(health.network).toMatchObject({ status: 'partial', reason: 'limit', dropped: 2 });
});

test('a capture without an earlier document of the tab is incomplete', () => {
  const frame = readFrame(0, RECORDED);
  const describe = (history: TabHistory, hasPredecessor: boolean) => {
    const frames = [{ ...frame, report: { ...frame.report!, hasPredecessor } }];
    return describeHealth({ frames }, EMPTY, history, null, false);
  };
  expect(describe(NO_HISTORY, false).console.status).toBe('ok');
  expect(describe(NO_HISTORY, true).console).toMatchObject({ status: 'partial', reason: 'navigated' });
  const kept = { ...NO_HISTORY, documents: 1, startedAt: -5 };
  expect(describe(kept, true)).toMatchObject({ console: { status: 'ok' }, history_started_at: -5 });
  const lossy = { ...kept, hasLosses: true };
  expect(describe(lossy, true).network).toMatchObject({ status: 'partial', reason: 'navigated' });
  const full = { ...kept, dropped: { ...kept.dropped, errors: 4 } };
  expect(describe(full, true).errors).toMatchObject({ status: 'partial', reason: 'limit', dropped: 4 });
});
