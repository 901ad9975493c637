import type { ConsoleEntry, ErrorEntry, NetworkEntry, Step } from '../../../../generated/api';
import { formatError } from '../../../shared/error-text';
import { isFailed } from '../network/requests';
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

const AROUND_MS = 2_000;

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
    tone: isFailed(entry) ? 'error' : 'quiet',
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

/** The first thing that went wrong: what was thrown, else a failed request, another error, an error in the console. */
export function findTrouble(moments: Moment[]): Moment | undefined {
  const bad = moments.filter(({ tone }) => tone === 'error');
  return (
    bad.find((each) => each.kind === 'error' && isThrown(each.entry)) ??
    bad.find(({ kind }) => kind === 'request') ??
    bad.find(({ kind }) => kind === 'error') ??
    bad[0]
  );
}

const isThrown = ({ kind }: ErrorEntry) => kind === 'error' || kind === 'unhandledrejection';

export type View = 'all' | 'steps' | 'problems' | 'around';

/** The moments of a view. `around` needs something that went wrong. */
export function selectMoments(moments: Moment[], view: View): Moment[] {
  if (view === 'steps') return moments.filter(({ kind }) => kind === 'step');
  if (view === 'problems') return moments.filter(({ tone }) => tone === 'error' || tone === 'warn');
  const trouble = view === 'around' ? findTrouble(moments) : undefined;
  return trouble ? moments.filter(({ ts }) => Math.abs(ts - trouble.ts) <= AROUND_MS) : moments;
}

/** Format a time since the start: "0:11.5", "−0:02.0", "12:03.4". */
export function formatClock(ms: number): string {
  const tenths = Math.round(Math.abs(ms) / 100);
  const [minutes, seconds] = [Math.floor(tenths / 600), (tenths % 600) / 10];
  return `${ms < 0 && tenths > 0 ? '−' : ''}${minutes}:${seconds.toFixed(1).padStart(4, '0')}`;
}
