/** What a person removes from a capture before sending it. Each function returns a new draft. */
import { describeAction } from '../../../../recorder/actions/describe-action';
import {
  STREAMS,
  type ConsoleEntry,
  type ErrorEntry,
  type NetworkEntry,
  type StreamHealth,
  type StreamName,
  type Streams,
} from '../../../../recorder/capture-types';
import { removeOriginals } from '../../../source-maps/draft-originals';
import type { Draft, Part } from '../../../storage';
import { removeEnvironmentDetails } from './environment-details';

export type AnyEntry = Streams[StreamName][number];

const REMOVED = { status: 'disabled', reason: null, captured: 0, dropped: 0 } satisfies StreamHealth;
const MAX_TEXT = 300;

export function removeStream(draft: Draft, name: StreamName): Draft {
  const without = replaceStream(draft, name, []);
  return setHealth(without, name, REMOVED);
}

export function removeEntry(draft: Draft, name: StreamName, entry: AnyEntry): Draft {
  const rest = (draft.streams[name] as AnyEntry[]).filter((each) => each !== entry);
  return rest.length ? replaceStream(draft, name, rest) : removeStream(draft, name);
}

export function removeReplay(draft: Draft): Draft {
  const { replay: _, ...rest } = draft;
  return setHealth(rest, 'replay', REMOVED);
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

export function countEarlierEntries(draft: Draft): number {
  const entries = STREAMS.flatMap((name) => (draft.streams[name] ?? []) as AnyEntry[]);
  return entries.filter((each) => !isOfCurrentPage(draft, each)).length;
}

function isOfCurrentPage(draft: Draft, entry: AnyEntry): boolean {
  return (entry.document ?? 0) >= (draft.earlierPages ?? 0);
}

function replaceStream(draft: Draft, name: StreamName, entries: AnyEntry[]): Draft {
  const changed = { ...draft, streams: { ...draft.streams, [name]: entries } };
  const health = draft.envelope.health[name];
  return health ? setHealth(changed, name, { ...health, captured: entries.length }) : changed;
}

function setHealth(draft: Draft, name: StreamName | 'replay', part: StreamHealth): Draft {
  const { envelope } = draft;
  return { ...draft, envelope: { ...envelope, health: { ...envelope.health, [name]: part } } };
}

const DESCRIBERS = {
  actions: describeAction,
  console: ({ level, args }: ConsoleEntry) => `${level}: ${args.join(' ')}`,
  network: ({ method, url, status, error }: NetworkEntry) => `${method} ${url} ${status ?? error ?? ''}`,
  errors: ({ name, message }: ErrorEntry) => (name ? `${name}: ${message}` : message),
};

/** One line about an entry. */
export function describeEntry(name: StreamName, entry: AnyEntry): string {
  const describe = DESCRIBERS[name] as (entry: AnyEntry) => string;
  return describe(entry).trim().slice(0, MAX_TEXT);
}

/** A size in words: "34 kB". */
export function formatSize(bytes: number): string {
  return bytes < 1_000_000 ? `${Math.ceil(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
