import type { NetworkEntry } from '../../../../generated/api';
import { shortened } from '../health';

export type SortKey = 'ts' | 'status' | 'method' | 'name' | 'type' | 'bytes' | 'duration';
export interface Sort {
  key: SortKey;
  down: boolean;
}
export interface Wanted {
  text: string;
  types: string[];
  failed: boolean;
}

/** As the API counts failures: status 400 and above, or no answer (docs/use/captures.md, "Truncation"). */
export function failed({ status, error }: NetworkEntry): boolean {
  return status === null || status >= 400 || error != null;
}

export function matching(entries: NetworkEntry[], { text, types, failed: only }: Wanted): NetworkEntry[] {
  const wanted = text.trim().toLowerCase();
  return entries.filter(
    (entry) =>
      (!only || failed(entry)) &&
      (types.length === 0 || types.includes(kindOf(entry.type))) &&
      (!wanted ||
        `${entry.method} ${entry.url} ${entry.status ?? ''} ${entry.error ?? ''}`
          .toLowerCase()
          .includes(wanted)),
  );
}

export function sorted(entries: NetworkEntry[], { key, down }: Sort): NetworkEntry[] {
  const value = VALUES[key];
  const sign = down ? -1 : 1;
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
  name: (entry) => shortened(entry.url),
  type: (entry) => entry.type,
  bytes: (entry) => entry.response?.bytes ?? -1,
  duration: (entry) => entry.duration_ms ?? Infinity,
};

export const TYPES = [
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

export function kindOf(type: string): string {
  if (type === 'xhr') return 'fetch';
  return TYPES.some(({ value }) => value === type) ? type : 'other';
}

export interface Span {
  from: number;
  to: number;
}

/** The time that all requests together take, for the waterfall. */
export function spanOf(entries: NetworkEntry[]): Span {
  let [from, to] = [Infinity, -Infinity];
  for (const { ts, duration_ms } of entries) {
    from = Math.min(from, ts);
    to = Math.max(to, ts + (duration_ms ?? 0));
  }
  return { from, to: Math.max(to, from + 1) };
}
