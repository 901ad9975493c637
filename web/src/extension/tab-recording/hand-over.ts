/** What a document sends to the background when it is left, so that the tab's recording goes on. */
import { joinActions } from '../../recorder/actions/join-actions';
import type { ActionEntry, FrameRecord, PageRecord } from '../../recorder/capture-types';
import type { StoredAtStart } from '../../recorder/environment/storage-names';

/** A navigation to another document. */
export interface StartedNavigation {
  url: string;
  isPost: boolean;
}

/** A frame's record as it was when its document was left, not redacted. */
export interface HandOver {
  kind: 'hand-over';
  /** The document's id, which stays the same if the browser shows the document again. */
  document: string;
  /** Whether it is the document of the tab, not of a frame. The browser's id of a frame that is left doesn't say it. */
  isTop: boolean;
  /** When the document was left; epoch milliseconds. */
  leftAt: number;
  /** Whether another document of its origin was in the tab before. */
  hasPredecessor: boolean;
  /** The navigation that ended it: null if no script and no element of it did, undefined if the browser can't say. */
  next?: StartedNavigation | null;
  /** What the page had stored when its document was opened; only of the document of the tab. */
  stored?: StoredAtStart | null;
  /** The recorder's record as JSON. It isn't parsed in the page, so that the next page isn't delayed. */
  pageRecord: string;
  actions: { entries: ActionEntry[]; dropped: number };
}

/** Whether a message is a hand-over. It comes from a page's process, so anything may be in it. */
export function isHandOver(message: unknown): message is HandOver {
  const { kind, document, leftAt, pageRecord, actions } = message as Partial<HandOver>;
  return (
    kind === 'hand-over' &&
    typeof document === 'string' &&
    Number.isFinite(leftAt) &&
    typeof pageRecord === 'string' &&
    Array.isArray(actions?.entries)
  );
}

/** Read the record of a hand-over. Raises Error if it isn't one. */
export function parseRecord({ pageRecord, actions }: HandOver): FrameRecord {
  const record = JSON.parse(pageRecord) as PageRecord | { error: string };
  if ('error' in record) throw new Error(record.error);
  return joinActions(record, actions);
}
