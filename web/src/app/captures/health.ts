import type { CaptureDetail, Health, HealthReason, Redaction, StreamHealth } from '../../../generated/api';
import { formatCount, joinWords } from '../ui/display/format';
import { formatDuration } from './format';

export const STREAMS = ['console', 'network', 'errors', 'actions', 'replay'] as const;
export type StreamName = (typeof STREAMS)[number];

const REASONS: Record<HealthReason, string> = {
  csp: 'the page’s Content Security Policy blocked the recorder',
  restricted_page: 'the browser does not allow extensions on this page',
  late_start: 'recording started after the page had loaded',
  policy: 'the project’s capture policy excludes it',
  limit: 'the size limit was reached',
  navigated: 'what happened on an earlier page of the tab is missing',
  hidden: 'the browser does not show all of it to the extension',
  error: 'recording failed',
  slowdown: 'recording slowed the page down',
};
const STREAM_LABELS: Record<StreamName, string> = {
  console: 'Console',
  network: 'Network',
  errors: 'Errors',
  actions: 'Steps',
  replay: 'Replay',
};
const SETTLING_MS = 1_000;

/** Describe what a stream lacks and why; null if it is complete, or if the client doesn’t record it. */
export function describeGaps(stream: StreamName, health: StreamHealth | undefined): string | null {
  if (!health) return null;
  const why = health.reason ? `: ${REASONS[health.reason]}` : '';
  const subject = STREAM_LABELS[stream];
  const cut = health.dropped
    ? ` ${formatCount(health.dropped, 'entry was', 'entries were')} dropped because of size limits.`
    : '';
  switch (health.status) {
    case 'ok':
      return cut.trim() || null;
    case 'partial':
      return `${subject}: recorded only in part${why}.${cut}`;
    case 'empty':
      return health.reason ? `${subject}: nothing recorded${why}.${cut}` : cut.trim() || null;
    case 'blocked':
      return `${subject}: not recorded${why}.${cut}`;
    case 'disabled':
      return `${subject}: disabled${why}.${cut}`;
  }
}

/** Describe a recording that started late; null if it started with the page. */
export function describeLateStart({
  history_started_at: began,
  page_loaded_at: loaded,
}: Health): string | null {
  if (began == null || loaded == null || began - loaded <= SETTLING_MS) return null;
  return `Recording started ${formatDuration(began - loaded)} after the page loaded. Earlier entries are missing.`;
}

/** How many values were redacted before the capture was stored. */
export function countRedactions({ headers, query, keys, patterns, extra }: Redaction): number {
  return [headers, query, keys, patterns, extra].reduce<number>((sum, count) => sum + (count ?? 0), 0);
}

/** Describe what was redacted before the capture was stored. */
export function describeRedaction(redaction: Redaction): string {
  const parts = [
    [redaction.headers, 'header value', 'header values'],
    [redaction.query, 'URL value', 'URL values'],
    [redaction.keys, 'value with a secret name', 'values with secret names'],
    [redaction.patterns, 'token with a known format', 'tokens with a known format'],
    [redaction.extra, 'match of the project’s rules', 'matches of the project’s rules'],
  ] as const;
  const removed = parts.filter(([many]) => many).map(([many, one, more]) => formatCount(many!, one, more));
  return removed.length > 0 ? `Redacted before storage: ${joinWords(removed)}.` : 'Nothing was redacted.';
}

export const OMITTED_REASONS: Record<string, string> = {
  policy: 'Not stored: the project’s capture policy excludes bodies.',
  binary: 'Not stored: not text.',
  limit: 'Truncated to 16 KiB.',
  unavailable: 'Not stored: the browser did not provide it.',
};

/** The zero of a capture's times, in epoch milliseconds: when its page was loaded, or the recording began. */
export function findStart({ captured_at, health }: Pick<CaptureDetail, 'captured_at' | 'health'>): number {
  const end = Date.parse(captured_at);
  const { page_loaded_at: loaded, history_started_at: began } = health;
  return Math.min(loaded ?? began ?? end, began ?? end);
}
