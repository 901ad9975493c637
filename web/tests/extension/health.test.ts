import { expect, test } from 'vitest';
import { describeHealth } from '../../src/extension/capture/health';
import type { FramesResult } from '../../src/extension/capture/frames';
import { NO_HISTORY, type TabHistory } from '../../src/extension/tab-recording/tab-history';
import { frameRecord, line, readFrame, request } from './frames';

const EMPTY = { console: [], network: [], errors: [], actions: [] };
const RECORDED = frameRecord();
const LATE = frameRecord({ startedLate: true });
const FULL = frameRecord({ dropped: { console: 3, network: 0, errors: 0, actions: 0 } });

/** The health of a capture of one recorded page, but for what is given. */
function describe(sources: Partial<Parameters<typeof describeHealth>[0]>) {
  return describeHealth({
    result: { frames: [readFrame(0, RECORDED)] },
    streams: EMPTY,
    history: NO_HISTORY,
    observation: null,
    ...sources,
  });
}

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
  expect(describe({ result }).console).toMatchObject({ status, reason });
});

test('entries are counted', () => {
  const streams = { ...EMPTY, console: [line(1), line(2)] };
  const health = describe({ result: { frames: [readFrame(0, FULL)] }, streams });
  expect(health.console).toMatchObject({ captured: 2, dropped: 3 });
});

test('a capture without an earlier document of the tab is incomplete', () => {
  const frame = readFrame(0, RECORDED);
  const describeHistory = (history: TabHistory, hasPredecessor: boolean) => {
    const frames = [{ ...frame, report: { ...frame.report!, hasPredecessor } }];
    return describe({ result: { frames }, history });
  };
  expect(describeHistory(NO_HISTORY, false).console.status).toBe('ok');
  expect(describeHistory(NO_HISTORY, true).console).toMatchObject({ status: 'partial', reason: 'navigated' });
  const kept = { ...NO_HISTORY, documents: 1, startedAt: -5 };
  expect(describeHistory(kept, true)).toMatchObject({ console: { status: 'ok' }, history_started_at: -5 });
  const lossy = { ...kept, hasLosses: true };
  expect(describeHistory(lossy, true).network).toMatchObject({ status: 'partial', reason: 'navigated' });
  const full = { ...kept, dropped: { ...kept.dropped, errors: 4 } };
  expect(describeHistory(full, true).errors).toMatchObject({
    status: 'partial',
    reason: 'limit',
    dropped: 4,
  });
});

test('requests are incomplete if the browser hides a response from page and extension', () => {
  const response = { body: null, bytes: null, mime: null, omitted_reason: 'unavailable' as const };
  const hidden = { ...request(1), status: null, response };
  const { reason } = describe({ streams: { ...EMPTY, network: [hidden] } }).network;
  expect(reason).toBe('hidden');
  const observe = (site: string) =>
    describe({ streams: { ...EMPTY, network: [hidden] }, observation: { requests: [], sites: [site] } })
      .network;
  expect(observe('*://other.example/*')).toMatchObject({ status: 'partial', reason: 'hidden' });
  expect(observe('*://shop.example/*')).toMatchObject({ status: 'ok', reason: null });
  const failed = { ...hidden, error: 'net::ERR_FAILED' };
  expect(describe({ streams: { ...EMPTY, network: [failed] } }).network.reason).toBeNull();
});

test('requests that only the browser reports make a page that blocks the recorder recorded in part', () => {
  const result = { frames: [readFrame(0, null)] };
  const { network, console } = describe({ result, streams: { ...EMPTY, network: [request(1)] } });
  expect([network.status, console.status]).toEqual(['partial', 'blocked']);
});
