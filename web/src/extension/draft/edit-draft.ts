/** What a person removes from a capture before sending it. Each function returns a new draft. */
import { describeAction } from '../../recorder/actions/describe-action';
import {
  STREAMS,
  type ConsoleEntry,
  type Envelope,
  type ErrorEntry,
  type NetworkEntry,
  type StreamHealth,
  type StreamName,
  type Streams,
} from '../../recorder/capture-types';
import { formatError } from '../../shared/error-text';
import type { Draft, Part } from '../storage';
import { removeEnvironmentDetails } from './environment-details';
import { removeOriginals } from './originals';

export type AnyEntry = Streams[StreamName][number];
/** What was recorded: of a capture, or of a page's own report. */
export interface Evidence {
  envelope: Pick<Envelope, 'health'>;
  streams: Streams;
}

const REMOVED = { status: 'disabled', reason: null, captured: 0, dropped: 0 } satisfies StreamHealth;
const MAX_TEXT = 300;

export function removeStream<T extends Evidence>(draft: T, name: StreamName): T {
  const without = replaceStream(draft, name, []);
  return setHealth(without, name, REMOVED);
}

export function removeEntry<T extends Evidence>(draft: T, name: StreamName, entry: AnyEntry): T {
  const rest = (draft.streams[name] as AnyEntry[]).filter((each) => each !== entry);
  return rest.length ? replaceStream(draft, name, rest) : removeStream(draft, name);
}

export function removeReplay(draft: Draft): Draft {
  const { replay: _, ...rest } = draft;
  return markReplayRemoved(rest);
}

export function markReplayRemoved<T extends Evidence>(draft: T): T {
  return setHealth(draft, 'replay', REMOVED);
}

/** Remove what happened on the pages that the tab showed before. */
export function removeEarlierPages(draft: Draft): Draft {
  let next: Draft = { ...draft, earlierPages: 0 };
  for (const name of STREAMS) {
    const rest = (draft.streams[name] as AnyEntry[]).filter((each) => isOfCurrentPage(draft, each));
    next = replaceStream(
      next,
      name,
      rest.map((each) => ({ ...each, document: 0 })),
    );
  }
  const { health } = next.envelope;
  const started = { history_started_at: health.page_loaded_at ?? null };
  return { ...next, envelope: { ...next.envelope, health: { ...health, ...started } } };
}

/** A draft without the parts that its person, or the project's policy, leaves out. */
export function leaveOut(draft: Draft, parts: Part[]): Draft {
  const { excluded: _, ...whole } = draft;
  // the entries of earlier pages first: they are part of the streams
  const inOrder = [...parts].sort((a, b) => Number(b === 'earlier') - Number(a === 'earlier'));
  return inOrder.reduce<Draft>((rest, part) => {
    if (part === 'earlier') return removeEarlierPages(rest);
    if (part === 'replay') return removeReplay(rest);
    if (part === 'source_maps') return removeOriginals(rest);
    if (part === 'environment') return removeDetails(rest);
    return part === 'screenshot' ? removeScreenshot(rest) : removeStream(rest, part);
  }, whole);
}

function removeDetails({ envelope, ...draft }: Draft): Draft {
  return { ...draft, envelope: { ...envelope, environment: removeEnvironmentDetails(envelope.environment) } };
}

function removeScreenshot({ marks: _, ...draft }: Draft): Draft {
  const { screenshot: __, ...health } = draft.envelope.health;
  return { ...draft, screenshot: null, envelope: { ...draft.envelope, health } };
}

export function countEarlierEntries(draft: Draft): number {
  const entries = STREAMS.flatMap((name) => draft.streams[name] as AnyEntry[]);
  return entries.filter((each) => !isOfCurrentPage(draft, each)).length;
}

/** Whether an entry belongs to the page that the tab shows now. */
export function isOfCurrentPage(draft: Draft, entry: AnyEntry): boolean {
  return (entry.document ?? 0) >= (draft.earlierPages ?? 0);
}

function replaceStream<T extends Evidence>(draft: T, name: StreamName, entries: AnyEntry[]): T {
  const changed = { ...draft, streams: { ...draft.streams, [name]: entries } };
  const health = draft.envelope.health[name];
  return health ? setHealth(changed, name, { ...health, captured: entries.length }) : changed;
}

function setHealth<T extends Evidence>(draft: T, name: StreamName | 'replay', part: StreamHealth): T {
  const { envelope } = draft;
  return { ...draft, envelope: { ...envelope, health: { ...envelope.health, [name]: part } } };
}

const DESCRIBERS = {
  actions: describeAction,
  console: ({ level, args }: ConsoleEntry) => `${level}: ${args.join(' ')}`,
  network: ({ method, url, status, error }: NetworkEntry) => `${method} ${url} ${status ?? error ?? ''}`,
  errors: (entry: ErrorEntry) => formatError(entry),
};

/** One line about an entry. */
export function describeEntry(name: StreamName, entry: AnyEntry): string {
  const describe = DESCRIBERS[name] as (entry: AnyEntry) => string;
  return describe(entry).trim().slice(0, MAX_TEXT);
}

/** How much a draft's replay shows. */
export function describeReplay({ replay }: Draft): string {
  return replay ? `${replay.seconds} s · fields masked` : '';
}

/** A size in words: "34 kB". */
export function formatSize(bytes: number): string {
  return bytes < 1_000_000 ? `${Math.ceil(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
