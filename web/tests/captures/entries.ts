import type { ConsoleEntry, ErrorEntry, NetworkEntry } from '../../generated/api';

export const START = 1_700_000_000_000;

/** A request that starts `at` milliseconds after the page. */
export function request(at: number, fields: Partial<NetworkEntry> = {}): NetworkEntry {
  return {
    id: `req_${at}`,
    ts: START + at,
    method: 'GET',
    url: 'https://shop.example/',
    type: 'fetch',
    status: 200,
    error: null,
    duration_ms: 100,
    ...fields,
  } as NetworkEntry;
}

export function consoleLine(level: string, ...args: string[]): ConsoleEntry {
  return { seq: 1, ts: START, level, args, source: 'app.js:10:4' } as ConsoleEntry;
}

export function failure(at: number, fields: Partial<ErrorEntry> = {}): ErrorEntry {
  return {
    ts: START + at,
    kind: 'error',
    name: 'TypeError',
    message: 'x is undefined',
    source: 'app.js:10:4',
    fingerprint: 'one',
    ...fields,
  } as ErrorEntry;
}
