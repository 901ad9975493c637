/** Joins what a person did in a frame with its dialogs, and leaves out hovers and movements that nothing followed. */
import type { ActionEntry, FrameRecord, PageRecord } from '../capture-types';

/** Why a hover may be a step: the page changed, or else what followed says it; of a part of an action, only errors do. */
export const [CHANGED, RESTED, PART] = ['changed', 'rested', 'part'] as const;

/** What comes later than this has another cause, in milliseconds. */
const [HOVERED_MS, DRAGGED_MS] = [500, 5_000];

export function joinActions(
  { dialogs = [], ...record }: PageRecord,
  { entries, dropped }: { entries: ActionEntry[]; dropped: number },
): FrameRecord {
  const errors = [...record.errors, ...record.console.filter(({ level }) => level === 'error')];
  /** Whether something followed before the next action, which would have caused it. */
  const isFollowed = ({ kind, ts: at }: ActionEntry, by: { ts: number }[]) => {
    const later = entries.filter((each) => each.kind !== 'hover' && each.ts > at).map(({ ts }) => ts);
    const end = Math.min(at + (kind === 'drag' ? DRAGGED_MS : HOVERED_MS), ...later);
    return by.some(({ ts }) => ts >= at && ts <= end);
  };
  const isHeld = ({ kind }: ActionEntry) => kind === 'hover' || kind === 'drag';
  const isStep = (entry: ActionEntry) => {
    const { value_kind: why } = entry;
    if (!isHeld(entry) || why === null || why === CHANGED) return true;
    return isFollowed(entry, errors) || (why !== PART && isFollowed(entry, record.network));
  };
  const actions = [
    ...entries.filter(isStep).map((each) => (isHeld(each) ? { ...each, value_kind: null } : each)),
    ...dialogs,
  ];
  return {
    ...record,
    actions: actions.sort((one, other) => one.ts - other.ts),
    dropped: { ...record.dropped, actions: dropped },
  };
}
