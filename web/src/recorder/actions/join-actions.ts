/** Joins what a person did in a frame with its dialogs, and leaves out the hovers that nothing followed. */
import type { ActionEntry, FrameRecord, PageRecord } from '../capture-types';

/** Why a hover may be a step: the page changed, or else what followed says it; of a part of an action, only errors do. */
export const [CHANGED, RESTED, PART] = ['changed', 'rested', 'part'] as const;

/** What comes later than this has another cause, in milliseconds. */
const CAUSED_MS = 500;

export function joinActions(
  { dialogs = [], ...record }: PageRecord,
  { entries, dropped }: { entries: ActionEntry[]; dropped: number },
): FrameRecord {
  const errors = [...record.errors, ...record.console.filter(({ level }) => level === 'error')];
  /** Whether something followed before the next action, which would have caused it. */
  const isFollowed = (at: number, by: { ts: number }[]) => {
    const next = Math.min(
      ...entries.filter(({ kind, ts }) => kind !== 'hover' && ts >= at).map(({ ts }) => ts),
    );
    return by.some(({ ts }) => ts >= at && ts - at <= CAUSED_MS && ts < next);
  };
  const isStep = ({ kind, ts, value_kind: why }: ActionEntry) =>
    kind !== 'hover' ||
    why === CHANGED ||
    isFollowed(ts, errors) ||
    (why !== PART && isFollowed(ts, record.network));
  const actions = [
    ...entries.filter(isStep).map((each) => (each.kind === 'hover' ? { ...each, value_kind: null } : each)),
    ...dialogs,
  ];
  return {
    ...record,
    actions: actions.sort((one, other) => one.ts - other.ts),
    dropped: { ...record.dropped, actions: dropped },
  };
}
