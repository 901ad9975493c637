/**
 * Joins what the browser reported with what the pages recorded. The browser is right about the method, the status, the
 * error and redirects; the page about the initiator, headers and bodies.
 */
import type { NetworkEntry } from '../../recorder/capture-types';
import { omitBody } from '../../recorder/network/bodies';
import { REDACTED } from '../../recorder/redaction/secret-values';
import { matchesSite } from '../recording/recorded-sites';
import type { ObservedRequest } from './observed-request';
import type { Observation } from './requests-store';

/** By how much the browser's clock and a page's may differ. */
const CLOCK_TOLERANCE_MS = 250;
/** By how much later a page may note a load that it can't measure, such as a worker's script. */
const LATE_NOTE_MS = 5_000;
/** How long a page may wait before the browser starts its request. */
const MAX_DELAY_MS = 10_000;
const TYPES: { [type: string]: string } = {
  main_frame: 'document',
  sub_frame: 'document',
  xmlhttprequest: 'fetch',
  script: 'script',
  stylesheet: 'stylesheet',
  image: 'image',
  imageset: 'image',
  font: 'font',
  media: 'media',
  websocket: 'websocket',
};
/** Of a look into the cache, after which the browser asks the network: nothing failed. */
const CACHE_MISS = 'net::ERR_CACHE_MISS';
/** What only the page can tell from other requests. */
const PAGE_TYPES = new Set(['fetch', 'xhr', 'websocket', 'eventsource']);

/**
 * Join the requests of a tab, which are changed in place, with those that the browser reported since a time. Returns how
 * many secrets are redacted in what only the browser saw.
 */
export function addObserved(network: NetworkEntry[], observed: ObservedRequest[], since: number): number {
  const free = new Map<string, NetworkEntry[]>();
  for (const entry of network) free.set(entry.url, [...(free.get(entry.url) ?? []), entry]);
  const owners = new Map<string, NetworkEntry>();
  const unseen: ObservedRequest[] = [];
  // from the last one, because a page can have asked for the same address before without a request
  const made = observed.filter(({ ts, error }) => ts >= since && error !== CACHE_MISS);
  for (const request of made.sort((a, b) => b.ts - a.ts)) {
    const entry = takeEntry(free, request);
    if (!entry) unseen.push(request);
    else {
      addFacts(entry, request);
      // the page around a frame has it, too, with the address before redirects
      const load = request.redirects.length > 0 && takeEntry(free, { ...request, redirects: [] });
      if (load && load.initiator !== null && load.type === 'document') {
        entry.initiator ??= load.initiator;
        network.splice(network.indexOf(load), 1);
      }
      if (request.document !== null && entry.type !== 'document') owners.set(request.document, entry);
    }
  }
  const starts = findStarts(network);
  const added = unseen.map((request) => createEntry(request, owners, starts));
  network.push(...added);
  network.sort((a, b) => a.ts - b.ts);
  network.forEach((entry, index) => (entry.id = `r${index + 1}`));
  const addresses = [...added, ...network.flatMap(({ redirects }) => redirects ?? [])].map(({ url }) => url);
  return addresses.reduce((sum, url) => sum + url.split(REDACTED).length - 1, 0);
}

function takeEntry(free: Map<string, NetworkEntry[]>, request: ObservedRequest): NetworkEntry | undefined {
  const isDocument = TYPES[request.type] === 'document';
  const last = request.redirects.at(-1)?.url;
  // a document knows only its own address, not the one that led there
  for (const url of isDocument && last !== undefined ? [last, request.url] : [request.url]) {
    const entries = (free.get(url) ?? []).filter(
      ({ ts, method, type }) =>
        ts >= request.ts - MAX_DELAY_MS &&
        (method === '?' || method === request.method) &&
        (type === 'document') === isDocument,
    );
    const entry =
      entries.findLast(({ ts }) => ts <= request.ts + CLOCK_TOLERANCE_MS) ??
      entries.find(({ ts, duration_ms }) => !duration_ms && ts <= request.ts + LATE_NOTE_MS);
    if (entry) {
      free.set(
        url,
        free.get(url)!.filter((each) => each !== entry),
      );
      return entry;
    }
  }
  return undefined;
}

function addFacts(entry: NetworkEntry, request: ObservedRequest): void {
  entry.url = request.url;
  entry.method = request.method;
  entry.status = request.status ?? entry.status;
  entry.status_text ||= request.statusText;
  entry.error = request.error ?? entry.error;
  entry.from_cache ||= request.fromCache;
  entry.redirects = request.redirects;
  entry.duration_ms ??= measureDuration(request, entry.ts);
  if (!PAGE_TYPES.has(entry.type)) entry.type = TYPES[request.type] ?? 'other';
}

/** How long a request took since it started; null if it goes on, or if nobody saw its end. */
function measureDuration({ endedAt, type, error }: ObservedRequest, start: number): number | null {
  // the browser reports that a socket has opened as its end
  if (endedAt === null || (type === 'websocket' && error === null)) return null;
  return Math.max(0, endedAt - start);
}

/** When each document of the tab began, oldest first. */
function findStarts(network: NetworkEntry[]): [document: number, ts: number][] {
  const starts = new Map<number, number>();
  for (const { document = 0, ts } of network) starts.set(document, Math.min(ts, starts.get(document) ?? ts));
  return [...starts].sort((a, b) => a[1] - b[1]);
}

function createEntry(
  request: ObservedRequest,
  owners: Map<string, NetworkEntry>,
  starts: [document: number, ts: number][],
): NetworkEntry {
  const { ts, method, url, status, error, redirects, initiator } = request;
  const owner = request.document === null ? undefined : owners.get(request.document);
  const startedLast = starts.findLast(([, start]) => start <= ts + CLOCK_TOLERANCE_MS);
  return {
    id: '-',
    ts,
    method,
    url,
    status,
    status_text: request.statusText,
    type: TYPES[request.type] ?? 'other',
    duration_ms: measureDuration(request, ts),
    request: { headers: {}, ...omitBody() },
    response: { headers: {}, ...omitBody(status === null ? null : 'unavailable'), mime: null },
    initiator,
    error,
    from_cache: request.fromCache,
    redirects,
    frame: owner?.frame ?? null,
    document: owner?.document ?? startedLast?.[0] ?? 0,
  };
}

/**
 * Whether neither the page nor the browser shows the response of a request, or the messages and the end of a worker's
 * socket. `observation`: null if none is allowed.
 */
export function isHidden(
  { status, error, response, url, from_cache, type }: NetworkEntry,
  observation: Observation | null,
): boolean {
  if (type === 'websocket' && status !== null && error === null)
    return response?.omitted_reason === 'unavailable';
  if (status !== null || error != null || from_cache) return false;
  if (response?.omitted_reason !== 'unavailable') return false;
  return !observation?.sites.some((site) => matchesSite(site, url));
}
