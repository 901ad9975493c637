/** The documents of a tab that were left, and which of them are kept. */
import type { FrameRecord, RedactionCounts } from '../../recorder/capture-types';
import type { StoredAtStart } from '../../recorder/environment/storage-names';
import type { StartedNavigation } from './hand-over';
import { KEPT_MS, MAX_DOCUMENTS, MAX_ENTRIES, MAX_FRAMES } from './limits';

export interface KeptDocument {
  /** The document's id, which stays the same if the browser shows the document again. */
  id: string;
  /** Whether it was the document of the tab, not of a frame. */
  isTop: boolean;
  url: string;
  /** When recording started, and when the document was left; epoch milliseconds. */
  startedAt: number;
  leftAt: number;
  requests: number;
  next?: StartedNavigation | null;
  /** The record, redacted and compressed. */
  data: string;
}
/** What `data` holds. */
export interface KeptRecord {
  record: FrameRecord;
  redaction: RedactionCounts;
  /** What the page had stored when it was opened, with stand-ins. */
  stored?: StoredAtStart | null;
}
export interface KeptDocuments {
  documents: KeptDocument[];
  /** When the newest document was left that the limits dropped; epoch milliseconds, 0 if none was: JSON has no infinity. */
  lostUntil: number;
}

/** The time before which entries of earlier documents are dropped: a while before the last document was left. */
export function findCutoff(documents: KeptDocument[]): number {
  return Math.max(...documents.map(({ leftAt }) => leftAt)) - KEPT_MS;
}

/** Drop the documents that exceed the limits, oldest first. */
export function limitDocuments({ documents, lostUntil }: KeptDocuments): KeptDocuments {
  const cutoff = findCutoff(documents);
  const recent = documents.filter(({ leftAt }) => leftAt >= cutoff).sort((a, b) => b.leftAt - a.leftAt);
  let [tops, requests] = [0, 0];
  const end = recent.findIndex((each, index) => {
    const exceeds = index === MAX_FRAMES || tops === MAX_DOCUMENTS || requests >= MAX_ENTRIES.network;
    if (each.isTop) tops += 1;
    requests += each.requests;
    return exceeds;
  });
  if (end < 0) return { documents: recent.reverse(), lostUntil };
  return { documents: recent.slice(0, end).reverse(), lostUntil: Math.max(lostUntil, recent[end]!.leftAt) };
}

/**
 * The index of each document: how many documents of the tab were left before it started. A frame has the index of the
 * document that it was part of.
 */
export function indexDocuments(documents: KeptDocument[]): number[] {
  const tops = documents.filter(({ isTop }) => isTop);
  return documents.map((each) =>
    each.isTop ? tops.indexOf(each) : tops.filter(({ leftAt }) => leftAt <= each.startedAt).length,
  );
}
