import { expect, test } from 'vitest';
import { resolveMethod } from '../../src/extension/tab-recording/document-method';
import { joinHistory } from '../../src/extension/capture/merge-streams';
import { isHandOver, parseRecord } from '../../src/extension/tab-recording/hand-over';
import {
  indexDocuments,
  limitDocuments,
  type KeptDocument,
} from '../../src/extension/tab-recording/kept-document';
import {
  joinRecords,
  NO_HISTORY,
  removeKeptEntries,
  selectDocuments,
} from '../../src/extension/tab-recording/tab-history';
import { frameRecord, line, request } from './frames';

const SHOP = 'https://shop.example/';
const REDACTION = { headers: 1, query: 0, keys: 0, patterns: 2, extra: 0 };

function document(startedAt: number, leftAt: number, fields: Partial<KeptDocument> = {}): KeptDocument {
  return { id: `d${startedAt}`, isTop: true, url: SHOP, startedAt, leftAt, requests: 0, data: '', ...fields };
}
const keep = (documents: KeptDocument[]) => ({ documents, lostUntil: 0 });

test('the entries of earlier documents come first, with the index of their document', () => {
  const documents = [document(10, 20), document(20, 30)];
  const records = [[line(12)], [line(21), line(25)]].map((console) => ({
    record: frameRecord({ console }),
    redaction: REDACTION,
  }));
  const history = joinRecords(keep(documents), records);
  const { console, network } = joinHistory(history, {
    ...NO_HISTORY.streams,
    console: [line(31)],
    network: [request(30)],
  });
  expect(console.map(({ ts, seq, document }) => [ts, seq, document])).toEqual([
    [12, 1, 0],
    [21, 2, 1],
    [25, 3, 1],
    [31, 4, 2],
  ]);
  expect(network[0]).toMatchObject({ id: 'r1', document: 2 });
  expect(history).toMatchObject({ documents: 2, startedAt: 10, hasLosses: false });
  expect(history.redaction).toMatchObject({ headers: 2, patterns: 4 });
});

test('entries from long before the last document was left are dropped', () => {
  const documents = [document(0, 150_000)];
  const record = frameRecord({ console: [line(29_999), line(30_000)] });
  const { streams, startedAt, hasLosses } = joinRecords(keep(documents), [{ record, redaction: REDACTION }]);
  expect(streams.console.map(({ ts }) => ts)).toEqual([30_000]);
  expect([startedAt, hasLosses]).toEqual([30_000, false]);
});

test('more than five documents, 100 frames or 2,000 requests are dropped as a loss, and old documents silently', () => {
  const six = [1, 2, 3, 4, 5, 6].map((each) => document(each, each + 1));
  expect(limitDocuments(keep(six))).toEqual({ documents: six.slice(1), lostUntil: 2 });
  const frames = Array.from({ length: 101 }, (_, each) => document(0, each, { isTop: false }));
  expect(limitDocuments(keep(frames))).toEqual({ documents: frames.slice(1), lostUntil: 0 });
  const busy = [document(1, 2), document(2, 3, { requests: 1_999 }), document(3, 4, { requests: 1 })];
  expect(limitDocuments(keep(busy))).toEqual({ documents: busy.slice(1), lostUntil: 2 });
  const old = [document(0, 1), document(1, 120_002)];
  expect(limitDocuments(keep(old))).toEqual({ documents: [old[1]], lostUntil: 0 });
  expect(joinRecords({ documents: [document(1, 2)], lostUntil: 1 }, []).hasLosses).toBe(true);
});

test('a frame has the index of the document that it was part of', () => {
  const documents = [
    document(11, 19, { isTop: false }),
    document(10, 20),
    document(21, 31, { isTop: false }),
    document(20, 30),
    document(35, 40, { isTop: false }),
  ];
  expect(indexDocuments(documents)).toEqual([0, 0, 1, 1, 2]);
});

test('pages of other hosts are left out unless their site was chosen by name', () => {
  const documents = [
    document(10, 20, { url: 'https://mail.example/' }),
    document(11, 20, { url: 'https://ads.example/', isTop: false }),
    document(20, 30),
    document(21, 30, { url: 'https://ads.example/', isTop: false }),
    document(30, 40, { url: 'https://pay.example/' }),
    document(41, 45, { url: 'https://ads.example/', isTop: false }),
  ];
  const selected = selectDocuments(documents, `${SHOP}cart`, (url) => url.includes('pay.'));
  expect(selected).toEqual(documents.slice(2));
});

test('what is kept of a document that the browser shows again is not repeated', () => {
  const record = frameRecord({ startedAt: 5, console: [line(10), line(20), line(30)] });
  removeKeptEntries(record, 20);
  expect(record).toMatchObject({ startedAt: 20, console: [{ ts: 30 }] });
  removeKeptEntries(record, undefined);
  expect(record.console).toHaveLength(1);
});

test('a message that is no hand-over is refused', () => {
  const actions = { entries: [], dropped: 3 };
  const pageRecord = JSON.stringify({ ...frameRecord(), actions: undefined });
  const handOver = {
    kind: 'hand-over',
    document: 'd',
    isTop: true,
    hasPredecessor: false,
    leftAt: 1,
    pageRecord,
    actions,
  };
  expect(isHandOver(handOver) && parseRecord(handOver)).toMatchObject({ dropped: { actions: 3 } });
  for (const spoilt of [{ kind: 'send-all' }, { leftAt: null }, { pageRecord: {} }, { actions: {} }])
    expect(isHandOver({ ...handOver, ...spoilt })).toBe(false);
  expect(() => parseRecord({ ...handOver, kind: 'hand-over', pageRecord: '{"error":"no"}' })).toThrow('no');
});

test.each<[string, Parameters<typeof resolveMethod>[1], NavigationTimingType, number, string]>([
  ['a form', { url: `${SHOP}?1#top`, isPost: true }, 'navigate', 0, 'POST'],
  ['a form whose answer redirects', { url: `${SHOP}?1`, isPost: true }, 'navigate', 1, '?'],
  ['a form for another page', { url: `${SHOP}?2`, isPost: true }, 'navigate', 0, '?'],
  ['a link that redirects', { url: `${SHOP}?2`, isPost: false }, 'navigate', 1, 'GET'],
  ['the address bar', null, 'navigate', 0, 'GET'],
  ['a reload, which repeats a form', null, 'reload', 0, '?'],
  ['a browser that cannot say', undefined, 'navigate', 0, '?'],
])('the method of a document after %s', (_, next, type, redirects, method) => {
  const entry = { ...request(1), type: 'document', method: '?', initiator: null };
  const record = frameRecord({ arrival: { type, redirects }, network: [entry] });
  resolveMethod(record, next);
  expect(entry.method).toBe(method);
});
