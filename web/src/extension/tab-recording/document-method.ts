import type { FrameRecord } from '../../recorder/capture-types';
import type { StartedNavigation } from './hand-over';

/**
 * Set the method of a document's request, which the document itself can't know, by the navigation that ended the one
 * before it. It stays unknown after a form's redirect, because that decides by its status whether the method changes.
 * The record is changed in place.
 */
export function resolveMethod(record: FrameRecord, next: StartedNavigation | null | undefined): void {
  const entry = record.network.find(({ type, initiator }) => type === 'document' && initiator === null);
  if (entry?.method !== '?' || next === undefined || record.arrival?.type !== 'navigate') return;
  if (!next?.isPost) entry.method = 'GET';
  else if (!record.arrival.redirects && next.url.split('#', 1)[0] === entry.url) entry.method = 'POST';
}
