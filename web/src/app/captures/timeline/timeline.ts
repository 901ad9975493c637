import type { ConsoleEntry, ErrorEntry, Failure, NetworkEntry, Step } from '../../../../generated/api';
import { formatError } from '../../../shared/error-text';
import { isFailed, nameError, nameLine, nameRequest } from '../../../shared/failures';
import { isNoise } from '../network/requests';
import { formatDuration, pathOf } from '../format';
import { joinLine } from '../parts/long-texts';
import { isMinorStep } from '../steps';
import { formatNumber } from '../../ui/time/dates';

export type Tone = 'error' | 'warn' | 'quiet' | 'plain' | 'strong';
interface Common {
  /** Unique within the capture. */
  key: string;
  ts: number;
  text: string;
  /** What is at the end of the row: a status and a duration, or how often it happened. */
  extent: string;
  tone: Tone;
}
/** One thing that happened in the page. */
export type Moment = Common &
  (
    | { kind: 'error'; entry: ErrorEntry }
    | { kind: 'request'; entry: NetworkEntry }
    | { kind: 'console'; entry: ConsoleEntry }
    | { kind: 'step'; entry: Step }
  );

/**
 * Merge the streams of a capture by time. The server merges them in the same way
 * (ticketbox/domain/captures/timeline/moments.py); both are tested with tests/domain/captures/timeline.json.
 */
export function mergeStreams(
  lines: ConsoleEntry[],
  requests: NetworkEntry[],
  errors: ErrorEntry[],
  steps: Step[],
): Moment[] {
  const moments = [
    ...steps.map(fromStep),
    ...lines.map(fromLine),
    ...requests.map(fromRequest),
    ...errors.map(fromError),
  ];
  return moments.sort((a, b) => a.ts - b.ts);
}

function fromStep(entry: Step): Moment {
  const key = `step-${entry.number}`;
  return {
    kind: 'step',
    key,
    ts: entry.ts,
    text: entry.words,
    extent: '',
    tone: isMinorStep(entry) ? 'quiet' : 'strong',
    entry,
  };
}

function fromLine(entry: ConsoleEntry): Moment {
  const tone = { error: 'error', warn: 'warn', info: 'plain', log: 'plain', debug: 'quiet' } as const;
  return {
    kind: 'console',
    key: `console-${entry.seq}`,
    ts: entry.ts,
    text: joinLine(entry.args) || '(empty)',
    extent: formatTimes(entry.repeat),
    tone: tone[entry.level],
    entry,
  };
}

/** The key of a request's moment. */
export function requestKey({ id }: NetworkEntry): string {
  return `request-${id}`;
}

function fromRequest(entry: NetworkEntry): Moment {
  const outcome = entry.status ?? (entry.error ? 'Failed' : 'Pending');
  const duration = entry.duration_ms === null ? [] : [formatDuration(entry.duration_ms)];
  return {
    kind: 'request',
    key: requestKey(entry),
    ts: entry.ts,
    text: `${entry.method} ${pathOf(entry.url)}`,
    extent: [outcome, ...duration].join(' · '),
    tone: isFailed(entry) && !isNoise(entry) ? 'error' : 'quiet',
    entry,
  };
}

function fromError(entry: ErrorEntry): Moment {
  return {
    kind: 'error',
    key: `error-${entry.seq}`,
    ts: entry.ts,
    text: formatError(entry) || '(no message)',
    extent: formatTimes(entry.count),
    tone: 'error',
    entry,
  };
}

function formatTimes(count: number | undefined): string {
  return (count ?? 1) > 1 ? `×${formatNumber(count!)}` : '';
}

/** Name a failure; null for what can't be the bug. */
export function nameMoment(moment: Moment): Failure | null {
  if (moment.kind === 'error') return nameError(moment.entry);
  if (moment.kind === 'request') return nameRequest(moment.entry);
  return moment.kind === 'console' ? nameLine(moment.entry) : null;
}

/** Whether a moment is a failure. */
export const isTrouble = ({ tone }: Moment): boolean => tone === 'error';

export type View = 'all' | 'steps' | 'problems';

/** The moments of a view. */
export function selectMoments<M extends Moment>(moments: M[], view: View): M[] {
  if (view === 'steps') return moments.filter(({ kind }) => kind === 'step');
  if (view === 'problems') return moments.filter(({ tone }) => tone === 'error' || tone === 'warn');
  return moments;
}

/** Write when something was, since the start of the page: the same in every part of a capture. */
export function formatMoment(ts: number, start: number): string {
  return formatClock(Math.max(0, ts - start)); // what the page loaded before is its start
}

/** Format a time since the start: "0:11.5", "−0:02.0", "12:03.4". */
export function formatClock(ms: number): string {
  const tenths = Math.round(Math.abs(ms) / 100);
  const [minutes, seconds] = [Math.floor(tenths / 600), (tenths % 600) / 10];
  return `${ms < 0 && tenths > 0 ? '−' : ''}${minutes}:${seconds.toFixed(1).padStart(4, '0')}`;
}
