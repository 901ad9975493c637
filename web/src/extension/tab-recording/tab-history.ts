/** What happened in a tab before its current document: the records of the documents that were left. */
import {
  STREAMS,
  type FrameRecord,
  type RedactionCounts,
  type StreamName,
  type Streams,
} from '../../recorder/capture-types';
import {
  findCutoff,
  indexDocuments,
  type KeptDocument,
  type KeptDocuments,
  type KeptRecord,
} from './kept-document';
import type { StoredAtStart } from '../../recorder/environment/storage-names';
import type { StartedNavigation } from './hand-over';
import { MAX_ENTRIES, MAX_STORED } from './limits';
import type { StoredValues } from '../../recorder/redaction/storage-shape';

export interface TabHistory {
  /** The number of earlier documents, which is the index of the current one. */
  documents: number;
  /** Their entries, redacted, with the index of their document. */
  streams: Streams;
  dropped: { [name in StreamName]: number };
  redaction: RedactionCounts;
  /** When the oldest record started; epoch milliseconds. */
  startedAt: number | null;
  /** Whether entries of an earlier document are missing that are as recent as the kept ones. */
  hasLosses: boolean;
  /** The navigation that ended the last document. */
  next?: StartedNavigation | null;
  /** What the documents of the page's origin had stored when they were opened. */
  stored: StoredAtStart[];
  /** Until when the entries of a document are part of this history, by the document's id; epoch milliseconds. */
  keptUntil: { [document: string]: number };
}

export const NO_HISTORY: TabHistory = {
  documents: 0,
  streams: { console: [], network: [], errors: [], actions: [] },
  dropped: { console: 0, network: 0, errors: 0, actions: 0 },
  redaction: { headers: 0, query: 0, keys: 0, patterns: 0, extra: 0 },
  startedAt: null,
  hasLosses: false,
  keptUntil: {},
  stored: [],
};

/** Join the records of the documents before a page. */
export function joinRecords(
  { documents, lostUntil }: KeptDocuments,
  records: KeptRecord[],
  pageUrl = '',
): TabHistory {
  if (!documents.length) return NO_HISTORY;
  const history = structuredClone(NO_HISTORY);
  const cutoff = findCutoff(documents);
  const indexes = indexDocuments(documents);
  history.documents = documents.filter(({ isTop }) => isTop).length;
  history.startedAt = Math.max(cutoff, Math.min(...documents.map(({ startedAt }) => startedAt)));
  history.next = documents.findLast(({ isTop }) => isTop)?.next;
  history.hasLosses = lostUntil > 0 && lostUntil >= cutoff;
  records.forEach(({ record, redaction, stored }, place) => {
    const { id, leftAt, url } = documents[place]!;
    if (stored && URL.parse(url)?.origin === URL.parse(pageUrl)?.origin)
      history.stored.push({ ...stored, document: indexes[place]! });
    history.keptUntil[id] = Math.max(leftAt, history.keptUntil[id] ?? 0);
    history.redaction = addCounts(history.redaction, redaction);
    for (const name of STREAMS) {
      history.dropped[name] += record.dropped[name];
      for (const entry of record[name]) {
        entry.document = indexes[place]!;
        if (entry.ts >= cutoff) history.streams[name].push(entry as never);
      }
    }
  });
  for (const name of STREAMS) dropOldest(history, name);
  return history;
}

/** Leave of what each document began with only what no earlier one had. */
export function joinStored(stored: StoredAtStart[]): StoredAtStart[] {
  const known = new Set<string>();
  const filter = (kind: string, values: StoredValues = {}) =>
    Object.fromEntries(
      Object.entries(values).filter(([name]) => {
        const isNew = !known.has(`${kind} ${name}`) && known.size < MAX_STORED;
        if (isNew) known.add(`${kind} ${name}`);
        return isNew;
      }),
    );
  const joined = stored.map(({ local, session, ...rest }) => ({
    ...rest,
    local: filter('local', local),
    session: filter('session', session),
  }));
  return joined.filter(
    ({ local, session }, index) => !index || Object.keys({ ...local, ...session }).length > 0,
  );
}

export function addCounts(one: RedactionCounts, other: RedactionCounts): RedactionCounts {
  const names = Object.keys(one) as (keyof RedactionCounts)[];
  return Object.fromEntries(names.map((name) => [name, one[name] + other[name]])) as RedactionCounts;
}

function dropOldest({ streams, dropped }: TabHistory, name: StreamName): void {
  const entries: { ts: number }[] = streams[name];
  entries.sort((a, b) => a.ts - b.ts);
  const excess = Math.max(0, entries.length - MAX_ENTRIES[name]);
  entries.splice(0, excess);
  dropped[name] += excess;
}

/** The documents that may be in a capture of a page: those of the same host, and of sites that were chosen by name. */
export function selectDocuments(
  documents: KeptDocument[],
  pageUrl: string,
  isChosenSite: (url: string) => boolean,
): KeptDocument[] {
  const host = URL.parse(pageUrl)?.hostname;
  const accepts = ({ url }: KeptDocument) => URL.parse(url)?.hostname === host || isChosenSite(url);
  const tops = documents.filter(({ isTop }) => isTop);
  const indexes = indexDocuments(documents);
  // a frame goes with the document that it was part of; the current one is always in the capture
  return documents.filter((_, place) => {
    const top = tops[indexes[place]!];
    return !top || accepts(top);
  });
}

/** Drop what is kept of a document that the browser shows again. The record is changed in place. */
export function removeKeptEntries(record: FrameRecord, until: number | undefined): void {
  if (until === undefined) return;
  for (const name of STREAMS)
    record[name] = (record[name] as { ts: number }[]).filter(({ ts }) => ts > until) as never;
  record.startedAt = Math.max(record.startedAt, until);
}
