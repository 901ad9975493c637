import type { NetworkEntry } from '../../../../generated/api';
import { isFailed } from '../../../shared/failures';
import { isNoise } from '../network/requests';
import { isTrouble, type Moment } from './timeline';

/** A row of the timeline: a moment with what else the browser said of it, or the files that a page loaded. */
export type Row = Moment & { others: Moment[]; isFiles?: boolean };

/** A failure that the server names: an entry of a stream. */
export interface NamedFailure {
  stream: string;
  entry: string;
}

/** The failure that a capture is about, as far as the server says it. */
export const readBug = (capture: object): NamedFailure | null | undefined =>
  (capture as { bug?: NamedFailure | null }).bug;

const TOGETHER_MS = 5_000; // between a failed request, its line in the console and the element that needed it
const FILES = new Set(['script', 'stylesheet', 'image', 'font', 'media', 'manifest', 'other']);
const KINDS: Record<string, Moment['kind']> = { errors: 'error', console: 'console', network: 'request' };

/** Tell the moments of a capture as a story: one failure is one row, and the files of a page are one row. */
export function tellStory(moments: Moment[]): Row[] {
  const failures = new Map<string, Row[]>(); // by address
  const files = new Map<number, Row>(); // by document
  const rows: Row[] = [];
  for (const moment of moments) {
    if (moment.kind !== 'request') continue;
    if (!isFailed(moment.entry) || isNoise(moment.entry)) continue;
    const { url } = moment.entry;
    failures.set(url, [...(failures.get(url) ?? []), { ...moment, others: [] }]);
  }
  for (const moment of moments) {
    const failed = findRequest(failures, moment);
    if (failed && failed.key !== moment.key) failed.others.push(moment);
    else if (failed) rows.push(failed);
    else if (isUnimportant(moment)) addFile(files, rows, moment);
    else rows.push({ ...moment, others: [] });
  }
  for (const row of files.values()) {
    const count = row.others.length;
    if (count > 1) Object.assign(row, { text: `${count} files loaded`, extent: '', isFiles: true });
    else row.others = [];
  }
  return rows;
}

function addFile(files: Map<number, Row>, rows: Row[], moment: Moment): void {
  const page = moment.entry.document ?? 0;
  const known = files.get(page);
  if (known) {
    known.others.push(moment);
    return;
  }
  const row: Row = { ...moment, tone: 'quiet', others: [moment] };
  files.set(page, row);
  rows.push(row);
}

/** The failed request that a moment is about: itself, a line of the browser in the console, or an element. */
function findRequest(failures: Map<string, Row[]>, moment: Moment): Row | undefined {
  const near = (url: string | null | undefined) =>
    failures.get(url ?? '')?.find(({ ts }) => Math.abs(ts - moment.ts) <= TOGETHER_MS);
  switch (moment.kind) {
    case 'request':
      return failures.get(moment.entry.url)?.find(({ key }) => key === moment.key);
    case 'error':
      return moment.entry.kind === 'resource' ? near(moment.entry.source) : undefined;
    case 'console': {
      const text = moment.entry.args.join(' ');
      if (moment.entry.level !== 'error' || !/^Failed to load resource|net::ERR_/.test(text))
        return undefined;
      const named = [...failures.keys()].find((url) => text.includes(url));
      return near(named ?? moment.entry.source);
    }
    default:
      return undefined;
  }
}

/** What a page loads besides its calls, and what a browser asks for without it; a line about such a request, too. */
function isUnimportant(moment: Moment): boolean {
  if (moment.kind === 'request')
    return isNoise(moment.entry) || (FILES.has(moment.entry.type) && !isFailed(moment.entry));
  if (moment.kind === 'error') return moment.entry.kind === 'resource' && isNoiseUrl(moment.entry.source);
  return (
    moment.kind === 'console' &&
    /^Failed to load resource/.test(moment.entry.args[0] ?? '') &&
    isNoiseUrl(moment.entry.source)
  );
}

const isNoiseUrl = (url: string | null | undefined) => isNoise({ url: url ?? '', type: '' } as NetworkEntry);

/** The row to show first: the bug that the server names, else the last failure before the capture. */
export function findBug(rows: Row[], bug: NamedFailure | null | undefined): Row | undefined {
  const key = bug && `${KINDS[bug.stream]}-${bug.entry}`;
  return (key && findRow(rows, key)) || rows.findLast(isTrouble);
}

/** The row that has a moment. */
export function findRow(rows: Row[], key: string | null): Row | undefined {
  return rows.find((row) => row.key === key || row.others.some((each) => each.key === key));
}
