import type { ActionEntry, ActionTarget, ReadOptions } from '../capture-types';
import { now } from '../natives/natives';
import { RingBuffer } from '../ring-buffer';
import { Sequence } from '../sequence';

const MAX_ENTRIES = 500;
const MAX_WEIGHT = 500_000;
/** A script can cause any number of events; those of persons must stay. */
const MAX_SYNTHETIC = 50;
const REPEATED_MS = 1_000;
const MINOR = new Set<ActionEntry['kind']>(['scroll', 'resize', 'visibility']);

type Details = Partial<ActionEntry> & Pick<ActionEntry, 'kind'>;
interface Item {
  entry: ActionEntry;
  element: Element | null;
  at: number;
  /** What it was dragged to. */
  end?: Element;
}

/** The newest actions of a frame. Equal ones in a row are counted. */
export class ActionLog {
  readonly #buffer = new RingBuffer<Item>(MAX_ENTRIES, MAX_WEIGHT);
  readonly #sequence = new Sequence();
  #lastMajor: Item | undefined;
  #synthetic = 0;
  #droppedSynthetic = 0;
  #isMasked = false;

  /**
   * Add an action. `describe` is called only if the action isn't a repetition or one synthetic event too many.
   * `isAlone`: the browser doesn't count a click as one more of a double click. Returns the entry.
   */
  add(
    details: Details,
    element: Element | null,
    describe: (element: Element) => ActionTarget,
    isAlone = false,
  ): ActionEntry | null {
    const isMajor = !details.synthetic && !MINOR.has(details.kind);
    // a page that scrolls or scripts itself while a person types doesn't interrupt the typing
    const last = isMajor ? this.#lastMajor : this.#buffer.last;
    const ts = now();
    const isSame = last?.element === element || isClickAgain(details, isAlone);
    if (last && !isAlone && isSame && isRepeated(last, details, ts)) {
      last.at = ts;
      if (details.kind === 'click' || details.kind === 'key')
        last.entry.repeat = (last.entry.repeat ?? 1) + 1;
      else {
        const { ts: began, point } = last.entry;
        Object.assign(last.entry, details, { ts: began }, point && { point });
      }
      return last.entry;
    }
    if (details.synthetic && (this.#synthetic += 1) > MAX_SYNTHETIC) {
      this.#droppedSynthetic += 1;
      return null;
    }
    const target = element ? describe(element) : null;
    const entry: ActionEntry = {
      seq: this.#sequence.next(),
      ts,
      target,
      value_kind: null,
      url: null,
      key: null,
      repeat: 1,
      synthetic: false,
      frame: null,
      document: 0,
      ...details,
    };
    const item = { entry, element, at: ts };
    if (isMajor) this.#lastMajor = item;
    this.#buffer.push(item, 200 + JSON.stringify(target).length + (entry.url?.length ?? 0));
    return entry;
  }

  /** Say where the drag of an entry ended. */
  endDrag(
    entry: ActionEntry,
    end: Element,
    to_point: [number, number],
    describe: (element: Element) => ActionTarget,
  ): void {
    const item = this.#buffer.entries.findLast((each) => each.entry === entry);
    if (item) item.end = end;
    Object.assign(entry, { to: describe(end), to_point });
  }

  /** Describe again what was recorded before the projects' masks were known. Of removed elements nothing is left. */
  applyMasks(describe: ((element: Element) => ActionTarget) | null): void {
    this.#isMasked = true;
    if (!describe) return;
    for (const { entry, element, end } of this.#buffer.entries)
      if (element) {
        entry.target = element.isConnected ? describe(element) : null;
        if (end) entry.to = end.isConnected ? describe(end) : null;
      }
  }

  /** The newest actions; without what they were done to as long as the masks aren't known. */
  read(options: ReadOptions): { entries: ActionEntry[]; dropped: number } {
    const { entries, dropped } = this.#buffer.read(options, ({ at }) => at);
    return {
      entries: entries.map(({ entry }) =>
        this.#isMasked ? entry : { ...entry, target: null, ...(entry.to && { to: null }) },
      ),
      dropped: dropped + this.#droppedSynthetic,
    };
  }
}

/** Whether the browser counts a click as one more of a double click. The page may have drawn the element again. */
function isClickAgain({ kind, synthetic, button, key }: Details, isAlone: boolean): boolean {
  return kind === 'click' && !synthetic && !isAlone && !button && !key;
}

/** Whether an action on the same element continues the previous one: typing, scrolling on, clicking again. */
function isRepeated({ entry, at }: Item, next: Details, ts: number): boolean {
  if (entry.kind !== next.kind || entry.synthetic !== (next.synthetic ?? false)) return false;
  switch (next.kind) {
    case 'input':
    case 'change':
    case 'scroll':
    case 'resize':
      return true;
    case 'key':
      return entry.key === next.key;
    case 'click':
      return entry.button === next.button && entry.key === (next.key ?? null) && ts - at <= REPEATED_MS;
    default:
      return false;
  }
}
