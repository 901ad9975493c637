import { expect, test } from 'vitest';
import { addObserved } from '../../src/extension/observed-requests/add-observed';
import {
  addEvent,
  NO_TAB,
  type EventKind,
  type ObservedRequest,
  type ObservedTab,
  type RequestEvent,
} from '../../src/extension/observed-requests/observed-request';
import { removeFrameLoads } from '../../src/extension/capture/frame-documents';
import type { NetworkEntry } from '../../src/recorder/capture-types';

const SHOP = 'https://shop.example/';

function observe(...events: [EventKind, Partial<RequestEvent>][]): ObservedTab {
  const tab: ObservedTab = { page: SHOP, requests: [] };
  for (const [kind, fields] of events) {
    const event = {
      requestId: '1',
      tabId: 5,
      frameId: 0,
      method: 'GET',
      type: 'image',
      timeStamp: 0,
      ...fields,
    };
    addEvent(tab, kind, { url: `${SHOP}a`, ...event }, (text) => text.replace('secret', '[redacted]'));
  }
  return tab;
}

function createObserved(ts: number, fields: Partial<ObservedRequest> = {}): ObservedRequest {
  const [request] = observe(
    ['start', { timeStamp: ts }],
    ['end', { timeStamp: ts + 10, statusCode: 200 }],
  ).requests;
  return { ...request!, ...fields };
}

function entry(ts: number, fields: Partial<NetworkEntry> = {}): NetworkEntry {
  const response = { body: null, bytes: null, mime: null, omitted_reason: 'unavailable' as const };
  return {
    id: '-',
    ts,
    method: 'GET',
    url: `${SHOP}a`,
    status: null,
    status_text: '',
    redirects: [],
    type: 'image',
    duration_ms: null,
    initiator: SHOP,
    error: null,
    from_cache: false,
    frame: null,
    document: 0,
    response,
    ...fields,
  };
}

test('a request is followed through its redirects to its end, without secrets and fragments', () => {
  const { requests, page } = observe(
    [
      'start',
      { url: `${SHOP}a?secret#top`, type: 'main_frame', timeStamp: 1, initiator: 'https://mail.example' },
    ],
    ['redirect', { type: 'main_frame', statusCode: 302, redirectUrl: `${SHOP}b?secret` }],
    ['start', { url: `${SHOP}b?secret`, type: 'main_frame', timeStamp: 2 }],
    [
      'response',
      { url: 'https://pay.example/b', type: 'main_frame', statusCode: 500, statusLine: 'HTTP/1.1 500 No' },
    ],
    ['end', { url: 'https://pay.example/b', type: 'main_frame', statusCode: 500, timeStamp: 9 }],
  );
  expect(requests).toMatchObject([
    {
      url: `${SHOP}a?[redacted]`,
      ts: 1,
      endedAt: 9,
      status: 500,
      statusText: 'No',
      redirects: [{ status: 302, url: `${SHOP}b?[redacted]` }],
      initiator: 'https://mail.example',
      page: SHOP,
    },
  ]);
  expect(page).toBe('https://pay.example/');
});

test('a request belongs to the page that made it, not to one that is being loaded', () => {
  const { requests } = observe(
    ['start', { requestId: 'page', initiator: 'https://mail.example' }],
    ['start', { requestId: 'frame', frameId: 3, initiator: 'https://ads.example' }],
    ['start', { requestId: 'worker', frameId: -1, tabId: NO_TAB, initiator: 'https://mail.example' }],
    ['end', { requestId: 'unknown' }],
    ['error', { requestId: 'page', error: 'net::ERR_BLOCKED_BY_CLIENT', timeStamp: 4 }],
  );
  expect(requests.map(({ id, page }) => [id, page])).toEqual([
    ['page', 'https://mail.example/'],
    ['frame', SHOP],
    ['worker', 'https://mail.example/'],
  ]);
  expect(requests[0]).toMatchObject({ error: 'net::ERR_BLOCKED_BY_CLIENT', endedAt: 4, status: null });
});

test('a tab keeps the newest 2,000 requests', () => {
  const starts = Array.from({ length: 2_001 }, (_, id): [EventKind, Partial<RequestEvent>] => [
    'start',
    { requestId: String(id) },
  ]);
  const { requests } = observe(...starts);
  expect([requests.length, requests[0]!.id]).toEqual([2_000, '1']);
});

test('the browser corrects what the page recorded', () => {
  const failed = entry(100, { method: '?', type: 'stylesheet' });
  const fetched = entry(200, { type: 'fetch', error: 'Failed to fetch', url: `${SHOP}b` });
  const network = [failed, fetched];
  const redirects = [{ status: 301, url: `${SHOP}c` }];
  const count = addObserved(
    network,
    [
      createObserved(110, { method: 'POST', status: 404, type: 'font', redirects }),
      createObserved(190, {
        url: `${SHOP}b`,
        type: 'xmlhttprequest',
        status: null,
        error: 'net::ERR_FAILED',
      }),
    ],
    0,
  );
  expect(count).toBe(0);
  expect(network).toHaveLength(2);
  expect(failed).toMatchObject({ method: 'POST', status: 404, type: 'font', redirects, initiator: SHOP });
  expect(fetched).toMatchObject({ type: 'fetch', status: null, error: 'net::ERR_FAILED' });
});

test('requests of the same address are joined by time and method', () => {
  const network = [entry(100), entry(5_000), entry(5_001, { method: 'PUT', type: 'fetch' })];
  const requests = [
    createObserved(110, { status: 201 }),
    createObserved(5_002, { method: 'OPTIONS', status: 204, type: 'xmlhttprequest' }),
    createObserved(5_003, { method: 'PUT', status: 409, type: 'xmlhttprequest' }),
    createObserved(5_004, { status: 304 }),
    createObserved(90_000, { status: 500 }),
  ];
  addObserved(network, requests, 0);
  expect(network.map(({ id, method, status }) => [id, method, status])).toEqual([
    ['r1', 'GET', 201],
    ['r2', 'GET', 304],
    ['r3', 'PUT', 409],
    ['r4', 'OPTIONS', 204],
    ['r5', 'GET', 500],
  ]);
});

test('a load that the page notes late, without its time, is listed once', () => {
  const note = { duration_ms: 0 };
  const late = [entry(1_800, note)];
  addObserved(late, [createObserved(1_000)], 0);
  expect(late).toHaveLength(1);
  const measured = [entry(1_800, { ...note, duration_ms: 20 })];
  addObserved(measured, [createObserved(1_000)], 0);
  expect(measured).toHaveLength(2); // another load
  const both = [entry(1_010, note), entry(1_800, note)];
  addObserved(both, [createObserved(1_000, { status: 404 })], 0);
  expect(both.map(({ status }) => status)).toEqual([404, null]);
});

test('what only the browser saw has the document and frame of its neighbours, and counts its secrets', () => {
  const network = [
    entry(100, { type: 'document', initiator: null, url: SHOP }),
    entry(1_000, { document: 1, frame: `${SHOP}frame`, url: `${SHOP}x` }),
    entry(1_200, { document: 1, type: 'document', initiator: null, url: `${SHOP}next` }),
  ];
  const requests = [
    createObserved(20, { url: `${SHOP}before` }),
    createObserved(150, { url: `${SHOP}hangs`, status: null, endedAt: null }),
    createObserved(1_001, { url: `${SHOP}x`, document: 'D' }),
    createObserved(1_100, { url: `${SHOP}y?t=[redacted]`, document: 'D' }),
    createObserved(1_201, {
      url: `${SHOP}old`,
      type: 'main_frame',
      redirects: [{ status: 302, url: `${SHOP}next` }],
    }),
  ];
  expect(addObserved(network, requests, 50)).toBe(1);
  const facts = network.map(({ url, document, frame, duration_ms }) => [
    url.slice(21),
    document,
    frame,
    duration_ms,
  ]);
  expect(facts).toEqual([
    ['', 0, null, null],
    ['hangs', 0, null, null],
    ['x', 1, `${SHOP}frame`, 11],
    ['y?t=[redacted]', 1, `${SHOP}frame`, 10],
    ['old', 1, null, 11],
  ]);
  expect(network[1]).toMatchObject({ status: null, error: null, response: { omitted_reason: null } });
  expect(network[4]).toMatchObject({ initiator: null, redirects: [{ url: `${SHOP}next` }] });
});

test('the document of a frame is listed once, with the page that embeds it', () => {
  const frame = { type: 'document', frame: `${SHOP}frame`, initiator: null, method: '?' };
  const load = (ts: number, url: string) => entry(ts, { type: 'document', url, method: '?' });
  const network = [
    entry(100, { type: 'document', initiator: null, url: SHOP }),
    load(200, `${SHOP}a`),
    entry(201, frame),
    load(300, `${SHOP}moved`),
    entry(301, { ...frame, url: `${SHOP}here` }),
    load(900, `${SHOP}empty`),
  ];
  removeFrameLoads(network);
  expect(network.map(({ url, initiator, frame }) => [url.slice(21), initiator, frame])).toEqual([
    ['', null, null],
    ['a', SHOP, `${SHOP}frame`],
    ['here', SHOP, `${SHOP}frame`],
    ['empty', SHOP, null],
  ]);
});

test('a frame that was redirected is listed once, however late the page noticed it', () => {
  const frame = entry(2_000, {
    type: 'document',
    frame: `${SHOP}frame`,
    initiator: null,
    url: `${SHOP}frame`,
  });
  const network = [entry(1_500, { type: 'document', url: `${SHOP}moved` }), frame];
  removeFrameLoads(network);
  const redirects = [{ status: 302, url: `${SHOP}frame` }];
  addObserved(network, [createObserved(2_010, { url: `${SHOP}moved`, type: 'sub_frame', redirects })], 0);
  expect(network.map(({ url, initiator }) => [url, initiator])).toEqual([[`${SHOP}moved`, SHOP]]);
});

test('a look into the cache, which the browser reports as an error, is no request', () => {
  const network = [entry(100)];
  const missed = createObserved(150, { type: 'font', url: `${SHOP}a.woff2`, error: 'net::ERR_CACHE_MISS' });
  const failed = createObserved(200, { url: `${SHOP}b`, error: 'net::ERR_FAILED' });
  addObserved(network, [createObserved(100), missed, failed], 0);
  expect(network.map(({ ts, error }) => [ts, error])).toEqual([
    [100, null],
    [200, 'net::ERR_FAILED'],
  ]);
});
