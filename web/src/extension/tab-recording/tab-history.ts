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
import type { StartedNavigation } from './hand-over';
import { MAX_ENTRIES } from './limits';

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
};

/** Join the records of earlier documents. */
export function joinRecords({ documents, lostUntil }: KeptDocuments, records: KeptRecord[]): TabHistory {
  if (!documents.length) return NO_HISTORY;
  const history = structuredClone(NO_HISTORY);
  const cutoff = findCutoff(documents);
  const indexes = indexDocuments(documents);
  history.documents = documents.filter(({ isTop }) => isTop).length;
  history.startedAt = Math.max(cutoff, Math.min(...documents.map(({ startedAt }) => startedAt)));
  history.next = documents.findLast(({ isTop }) => isTop)?.next;
  history.hasLosses = lostUntil > 0 && lostUntil >= cutoff;
  records.forEach(({ record, redaction }, place) => {
    const { id, leftAt } = documents[place]!;
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
