import type { NetworkEntry } from '../../../../generated/api';
import { isFailed } from '../../../shared/failures';
import { shortenUrl } from '../format';

export type SortKey = 'ts' | 'status' | 'method' | 'name' | 'type' | 'bytes' | 'duration';
export interface Sort {
  key: SortKey;
  isDescending: boolean;
}
export interface RequestFilter {
  text: string;
  types: string[];
  onlyFailed: boolean;
}

/** Whether nobody misses a request: icons of the tab, beacons, and the maps of scripts. */
export function isNoise({ url, type }: Pick<NetworkEntry, 'url' | 'type'>): boolean {
  const path = url.split(/[?#]/, 1)[0]!;
  return (
    ['ping', 'beacon', 'csp_report', 'csp-violation-report'].includes(type) ||
    /\/(favicon|apple-touch-icon)[^/]*$|\.(js|css|mjs)\.map$/i.test(path)
  );
}

/** The requests that match the text, the types (none: all) and the outcome. */
export function filterRequests(
  entries: NetworkEntry[],
  { text, types, onlyFailed }: RequestFilter,
): NetworkEntry[] {
  const wanted = text.trim().toLowerCase();
  return entries.filter(
    (entry) =>
      (!onlyFailed || isFailed(entry)) &&
      (types.length === 0 || types.includes(typeGroup(entry.type))) &&
      (!wanted ||
        `${entry.method} ${entry.url} ${entry.status ?? ''} ${entry.error ?? ''}`
          .toLowerCase()
          .includes(wanted)),
  );
}

/** Sort requests; equal ones by start time. */
export function sortRequests(entries: NetworkEntry[], { key, isDescending }: Sort): NetworkEntry[] {
  const value = VALUES[key];
  const sign = isDescending ? -1 : 1;
  return [...entries].sort((a, b) => {
    const [x, y] = [value(a), value(b)];
    const order = typeof x === 'number' ? x - (y as number) : x.localeCompare(y as string);
    return sign * order || a.ts - b.ts;
  });
}

const VALUES: Record<SortKey, (entry: NetworkEntry) => number | string> = {
  ts: (entry) => entry.ts,
  status: (entry) => entry.status ?? 0,
  method: (entry) => entry.method,
  name: (entry) => shortenUrl(entry.url),
  type: (entry) => entry.type,
  bytes: (entry) => entry.response?.bytes ?? -1,
  duration: (entry) => entry.duration_ms ?? Infinity,
};

export const TYPE_GROUPS = [
  { value: 'fetch', label: 'Fetch/XHR' },
  { value: 'document', label: 'Doc' },
  { value: 'script', label: 'JS' },
  { value: 'stylesheet', label: 'CSS' },
  { value: 'image', label: 'Img' },
  { value: 'font', label: 'Font' },
  { value: 'media', label: 'Media' },
  { value: 'websocket', label: 'WS' },
  { value: 'other', label: 'Other' },
];

/** The group of a resource type. */
export function typeGroup(type: string): string {
  if (type === 'xhr') return 'fetch';
  if (type === 'eventsource') return 'websocket';
  return TYPE_GROUPS.some(({ value }) => value === type) ? type : 'other';
}
