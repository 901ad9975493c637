import type { Health, HealthReason, Redaction, StreamHealth } from '../../../generated/api';
import { list } from '../tickets/activity/history';

export type StreamName = 'console' | 'network' | 'errors';

const WHY: Record<HealthReason, string> = {
  csp: 'the page’s content-security policy blocks the script that collects',
  restricted_page: 'the browser lets no extension into this page',
  late_start: 'the extension started after the page had loaded',
  policy: 'the project’s capture policy leaves it out',
  limit: 'the size limit was reached',
  error: 'collecting failed',
};
const SUBJECT: Record<StreamName, string> = {
  console: 'The console',
  network: 'Network requests',
  errors: 'Errors',
};
const SETTLING_MS = 1_000;

/** What is missing of a stream and why; null when nothing is. */
export function missing(stream: StreamName, health: StreamHealth): string | null {
  const why = health.reason ? `: ${WHY[health.reason]}` : '';
  const subject = SUBJECT[stream];
  const cut = health.dropped
    ? ` ${count(health.dropped, 'entry was', 'entries were')} left out to keep the limits.`
    : '';
  switch (health.status) {
    case 'ok':
      return cut.trim() || null;
    case 'partial':
      return `${subject} could be collected only in part${why}.${cut}`;
    case 'empty':
      return health.reason ? `Nothing was recorded${why}.${cut}` : cut.trim() || null;
    case 'blocked':
      return `${subject} could not be collected${why}.${cut}`;
    case 'disabled':
      return `${subject}: switched off${why}.${cut}`;
  }
}

/** How long after the page its history starts, where that matters. */
export function late({ history_started_at: began, page_loaded_at: loaded }: Health): string | null {
  if (began == null || loaded == null || began - loaded <= SETTLING_MS) return null;
  return `History starts ${seconds(began - loaded)} after the page loaded. What happened before is missing.`;
}

/** What was taken out before the capture was stored. */
export function redacted(redaction: Redaction): string {
  const parts = [
    [redaction.headers, 'header value', 'header values'],
    [redaction.query, 'value in an address', 'values in addresses'],
    [redaction.keys, 'value with a secret’s name', 'values with a secret’s name'],
    [redaction.patterns, 'token known by its shape', 'tokens known by their shape'],
    [redaction.extra, 'hit of the project’s own rules', 'hits of the project’s own rules'],
  ] as const;
  const told = parts.filter(([many]) => many).map(([many, one, more]) => count(many!, one, more));
  return told.length > 0
    ? `Taken out before this was stored: ${list(told)}.`
    : 'Nothing looked like a secret, so nothing was taken out.';
}

export const OMITTED: Record<string, string> = {
  policy: 'Not kept: the project’s capture policy leaves bodies out.',
  binary: 'Not kept: it isn’t text.',
  limit: 'Cut: it was longer than 16 KiB.',
  unavailable: 'Not kept: the browser didn’t give it.',
};

export function count(many: number, one: string, more: string): string {
  return `${many.toLocaleString('en')} ${many === 1 ? one : more}`;
}

/** A duration in milliseconds, as people read it. */
export function seconds(ms: number): string {
  if (ms <= -1) return `−${seconds(-ms)}`;
  if (ms < 1) return '0 ms';
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 2 : 1)} s`;
  return `${(ms / 60_000).toFixed(1)} min`;
}

/** The end of an address, by which it is known: `app.js:10:4`, `/api/cart?page=2`. */
export function shortened(address: string): string {
  const path = address.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '');
  const [before, query = ''] = path.split(/(?=\?)/, 2) as [string, string?];
  const last = before.replace(/\/+$/, '').split('/').at(-1) ?? '';
  return (last || before || address) + query;
}

export function host(address: string): string {
  return /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(address)?.[1] ?? '';
}
