import type { NetworkEntry } from '../shapes';
import { without } from './requests';
import { Ring } from './ring';

const TYPES: Record<string, string> = {
  script: 'script',
  css: 'stylesheet',
  link: 'stylesheet',
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
const EXTENSIONS: [RegExp, string][] = [
  [/\.(?:woff2?|ttf|otf)$/i, 'font'],
  [/\.(?:png|jpe?g|gif|webp|avif|svg|ico)$/i, 'image'],
  [/\.m?js$/i, 'script'],
  [/\.css$/i, 'stylesheet'],
];
const BY_SCRIPT = new Set(['fetch', 'xmlhttprequest', 'beacon']);
const SLACK = 2;
const MOST_LISTS = 200;

type Timing = PerformanceResourceTiming & { responseStatus?: number; deliveryType?: string };

/** Listen to what the browser loads by itself. Gives what joins it with the page's own requests. */
export function listenToTimings(): (
  own: NetworkEntry[],
  failed: Set<string>,
) => { entries: NetworkEntry[]; dropped: number } {
  const ring = new Ring<Timing>(2_000);
  // the browser makes the entries when they are looked at, which is put off
  const lists: PerformanceObserverEntryList[] = [];
  const look = () => {
    for (const list of lists.splice(0)) for (const each of list.getEntries()) ring.push(each as Timing);
  };
  const observer = new PerformanceObserver((list) => {
    if (lists.push(list) >= MOST_LISTS) look();
  });
  observer.observe({ type: 'resource', buffered: true });
  return (own, failed) => {
    look();
    for (const each of observer.takeRecords()) ring.push(each as Timing);
    const rest = joined(own, ring.all);
    const entries = [...documentEntry(), ...own, ...rest.map((each) => loaded(each, failed))];
    return { entries: entries.sort((a, b) => a.ts - b.ts), dropped: ring.dropped };
  };
}

/** Complete the page's own requests with what was measured; gives the measurements that are nobody's. */
function joined(own: NetworkEntry[], timings: Timing[]): Timing[] {
  const waiting = new Map<string, NetworkEntry[]>();
  for (const each of own) waiting.set(each.url, [...(waiting.get(each.url) ?? []), each]);
  return timings.filter((timing) => {
    if (!BY_SCRIPT.has(timing.initiatorType)) return true;
    const began = performance.timeOrigin + timing.startTime;
    const several = waiting.get(timing.name);
    const at = several?.findIndex((each) => each.ts <= began + SLACK) ?? -1;
    if (at < 0) return true;
    const [entry] = several!.splice(at, 1);
    if (entry!.error) return false;
    entry!.duration_ms = Math.max(0, performance.timeOrigin + timing.responseEnd - entry!.ts);
    entry!.from_cache = fromCache(timing);
    entry!.response!.bytes = timing.encodedBodySize || entry!.response!.bytes;
    return false;
  });
}

function documentEntry(): NetworkEntry[] {
  const [timing] = performance.getEntriesByType('navigation') as unknown as Timing[];
  if (!timing || !/^https?:/.test(location.protocol)) return [];
  return [{ ...loaded(timing, new Set()), type: 'document', initiator: null }];
}

function loaded(timing: Timing, failed: Set<string>): NetworkEntry {
  const status = timing.responseStatus || null;
  const failure = status === null && failed.has(timing.name) ? 'the browser could not load it' : null;
  return {
    id: '-',
    ts: performance.timeOrigin + timing.startTime,
    method: BY_SCRIPT.has(timing.initiatorType) ? '?' : 'GET', // a request from before the recorder's time
    url: timing.name.slice(0, 16_384),
    status,
    type: typeOf(timing),
    duration_ms: Math.max(0, timing.duration),
    status_text: '',
    request: { headers: {}, ...without() },
    response: {
      headers: {},
      ...without(status === null && !failure ? 'unavailable' : null, timing.encodedBodySize || null),
      mime: null,
    },
    initiator: location.href.slice(0, 16_384),
    error: failure,
    from_cache: fromCache(timing),
    frame: null,
  };
}

function typeOf({ initiatorType, name }: Timing): string {
  const path = name.split(/[?#]/, 1)[0]!;
  const known = EXTENSIONS.find(([ending]) => ending.test(path))?.[1];
  if (initiatorType === 'css' || initiatorType === 'link' || !(initiatorType in TYPES))
    if (known) return known;
  return initiatorType === 'css' ? 'other' : (TYPES[initiatorType] ?? 'other');
}

function fromCache(timing: Timing): boolean {
  return timing.deliveryType === 'cache' || (timing.transferSize === 0 && timing.decodedBodySize > 0);
}
