import type { NetworkEntry, PageRecord, ReadOptions } from '../capture-types';
import { OWN_LOAD_MARK } from '../channel';
import { RingBuffer } from '../ring-buffer';
import { omitBody } from './bodies';

const TYPES_BY_INITIATOR: Record<string, string> = {
  script: 'script',
  css: 'stylesheet',
  img: 'image',
  image: 'image',
  input: 'image',
  video: 'media',
  audio: 'media',
  track: 'media',
  iframe: 'document',
  frame: 'document',
  fetch: 'fetch',
  xmlhttprequest: 'xhr',
};
/** The types of what a `link` element preloads, by its `as`. */
const TYPES_BY_DESTINATION: Record<string, string> = {
  script: 'script',
  style: 'stylesheet',
  image: 'image',
  font: 'font',
  audio: 'media',
  video: 'media',
  track: 'media',
  fetch: 'fetch',
};
const TYPES_BY_EXTENSION: [RegExp, string][] = [
  [/\.(?:woff2?|ttf|otf)$/i, 'font'],
  [/\.(?:png|jpe?g|gif|webp|avif|svg|ico)$/i, 'image'],
  [/\.m?js$/i, 'script'],
  [/\.css$/i, 'stylesheet'],
];
/** The methods of loads that aren't always GET; `?` if the page can't know it. */
const METHODS_BY_INITIATOR: Record<string, string> = {
  // scripts' requests from before the recorder started
  fetch: '?',
  xmlhttprequest: '?',
  // a form can post into a frame
  iframe: '?',
  frame: '?',
  beacon: 'POST',
  ping: 'POST',
};
/** Browsers call an event stream `other`. */
const SCRIPT_INITIATORS = new Set(['fetch', 'xmlhttprequest', 'beacon', 'other']);
const CLOCK_TOLERANCE_MS = 2;
const MAX_PENDING_LISTS = 200;

type Timing = PerformanceResourceTiming & { responseStatus?: number; deliveryType?: string };

/**
 * Start recording the browser's resource timings. Returns a function that merges them with the requests of the page's
 * scripts.
 */
export function recordResourceTimings(): (
  scriptRequests: NetworkEntry[],
  failedResources: Set<string>,
  options: ReadOptions,
) => { entries: NetworkEntry[]; dropped: number } {
  const buffer = new RingBuffer<Timing>(2_000);
  const add = (timing: Timing) => {
    if (!timing.name.endsWith(`#${OWN_LOAD_MARK}`)) buffer.push(timing);
  };
  // the browser creates the entries when a list is read, so that is deferred
  const pendingLists: PerformanceObserverEntryList[] = [];
  const readPending = () => {
    for (const list of pendingLists.splice(0)) for (const each of list.getEntries()) add(each as Timing);
  };
  const observer = new PerformanceObserver((list) => {
    if (pendingLists.push(list) >= MAX_PENDING_LISTS) readPending();
  });
  observer.observe({ type: 'resource', buffered: true });
  return (scriptRequests, failedResources, options) => {
    readPending();
    for (const each of observer.takeRecords()) add(each as Timing);
    const timings = buffer.read(options, ({ startTime }) => performance.timeOrigin + startTime);
    const otherTimings = addTimings(scriptRequests, timings.entries);
    const linkTypes = readLinkTypes();
    const entries = [
      ...createDocumentEntry().filter(({ ts }) => ts >= options.since),
      ...scriptRequests,
      ...otherTimings.map((each) => createEntry(each, failedResources, linkTypes)),
    ];
    return { entries: entries.sort((a, b) => a.ts - b.ts), dropped: timings.dropped };
  };
}

/** Add each timing to the script's request that it measures. Returns the timings of all other requests. */
function addTimings(scriptRequests: NetworkEntry[], timings: Timing[]): Timing[] {
  const requestsByUrl = new Map<string, NetworkEntry[]>();
  for (const each of scriptRequests)
    requestsByUrl.set(each.url, [...(requestsByUrl.get(each.url) ?? []), each]);
  return timings.filter((timing) => {
    if (!SCRIPT_INITIATORS.has(timing.initiatorType)) return true;
    const startedAt = performance.timeOrigin + timing.startTime;
    const candidates = requestsByUrl.get(timing.name);
    const index = candidates?.findIndex((each) => each.ts <= startedAt + CLOCK_TOLERANCE_MS) ?? -1;
    if (index < 0) return true;
    const [entry] = candidates!.splice(index, 1);
    if (entry!.error && !entry!.status) return false;
    entry!.duration_ms = Math.max(0, performance.timeOrigin + timing.responseEnd - entry!.ts);
    entry!.from_cache = isFromCache(timing);
    entry!.response!.bytes = timing.encodedBodySize || entry!.response!.bytes;
    return false;
  });
}

/** How the document was opened. */
export function readArrival(): PageRecord['arrival'] {
  const [timing] = performance.getEntriesByType('navigation') as unknown as PerformanceNavigationTiming[];
  return timing ? { type: timing.type, redirects: timing.redirectCount } : null;
}

/** The request for the document, if it came over HTTP. */
function createDocumentEntry(): NetworkEntry[] {
  const [timing] = performance.getEntriesByType('navigation') as unknown as Timing[];
  if (!timing || !/^https?:/.test(location.protocol)) return [];
  // without an initiator it wasn't a form; otherwise, only the document before it knows
  const isFirst = readArrival()?.type === 'navigate' && !document.referrer;
  const method = isFirst || timing.deliveryType === 'cache' ? 'GET' : '?';
  return [{ ...createEntry(timing, new Set(), new Map()), method, type: 'document', initiator: null }];
}

function createEntry(
  timing: Timing,
  failedResources: Set<string>,
  linkTypes: Map<string, string>,
): NetworkEntry {
  const status = timing.responseStatus || null;
  const hasFailed = status === null && failedResources.has(timing.name);
  const omittedReason = status === null && !hasFailed ? 'unavailable' : null;
  return {
    id: '-',
    ts: performance.timeOrigin + timing.startTime,
    method: METHODS_BY_INITIATOR[timing.initiatorType] ?? 'GET',
    url: timing.name.slice(0, 16_384),
    status,
    type: typeOf(timing, linkTypes),
    duration_ms: Math.max(0, timing.duration),
    status_text: '',
    request: { headers: {}, ...omitBody() },
    response: { headers: {}, ...omitBody(omittedReason, timing.encodedBodySize || null), mime: null },
    initiator: location.href.slice(0, 16_384),
    error: hasFailed ? 'the browser could not load it' : null,
    from_cache: isFromCache(timing),
    frame: null,
    document: 0,
  };
}

/** The types of what the document's `link` elements load, by address. */
function readLinkTypes(): Map<string, string> {
  const links = document.querySelectorAll<HTMLLinkElement>('link[href]');
  return new Map([...links].map((link) => [link.href, linkTypeOf(link)]));
}

function linkTypeOf({ relList, as }: HTMLLinkElement): string {
  if (relList.contains('stylesheet')) return 'stylesheet';
  if (relList.contains('modulepreload')) return 'script';
  if (relList.contains('icon')) return 'image';
  return relList.contains('preload') ? (TYPES_BY_DESTINATION[as] ?? 'other') : 'other';
}

function typeOf({ initiatorType, name }: Timing, linkTypes: Map<string, string>): string {
  if (initiatorType === 'link' && linkTypes.has(name)) return linkTypes.get(name)!;
  const path = name.split(/[?#]/, 1)[0]!;
  const typeByExtension = TYPES_BY_EXTENSION.find(([extension]) => extension.test(path))?.[1];
  const isAmbiguous =
    initiatorType === 'css' || initiatorType === 'link' || !(initiatorType in TYPES_BY_INITIATOR);
  if (isAmbiguous && typeByExtension) return typeByExtension;
  return initiatorType === 'css' ? 'other' : (TYPES_BY_INITIATOR[initiatorType] ?? 'other');
}

function isFromCache(timing: Timing): boolean {
  return timing.deliveryType === 'cache' || (timing.transferSize === 0 && timing.decodedBodySize > 0);
}
