/** The events of a replay in segments, each of which begins with a full snapshot, within limits of time and size. */

export const MAX_CHARACTERS = 4_000_000;

/** What a segment has before the next one should start: dropping it for its size then leaves the next one. */
const MAX_SEGMENT = MAX_CHARACTERS / 2;
/** The events that a segment begins with: the page's size, and the full snapshot. */
const START_EVENTS = 2;

interface Segment {
  startedAt: number;
  events: string[];
  size: number;
  startSize: number;
}

export class Segments {
  #segments: Segment[] = [];
  #size = 0;
  readonly #length: number;
  /** Whether events are missing because of the size. */
  isCut = false;

  /** `length`: the milliseconds that are kept, and what is older as far as the oldest segment needs it. */
  constructor(length: number) {
    this.#length = length;
  }

  /** When the newest segment started; -Infinity if there is none. */
  get startedAt(): number {
    return this.#segments.at(-1)?.startedAt ?? -Infinity;
  }

  /** Whether the newest segment is large, and its changes are more than what the next one would begin with. */
  get isLarge(): boolean {
    const newest = this.#segments.at(-1);
    return newest !== undefined && newest.size > Math.max(MAX_SEGMENT, 2 * newest.startSize);
  }

  /** Add an encoded event. Without a segment that has room for it, it is dropped, until the next one starts. */
  add(event: string, time: number, isStart: boolean): void {
    if (isStart) this.#segments.push({ startedAt: time, events: [], size: 0, startSize: 0 });
    const newest = this.#segments.at(-1);
    if (!newest) return;
    newest.events.push(event);
    newest.size += event.length;
    if (newest.events.length <= START_EVENTS) newest.startSize = newest.size;
    this.#size += event.length;
    this.#dropOld(time);
    while (this.#size > MAX_CHARACTERS) {
      this.isCut = true;
      this.#dropOldest();
    }
  }

  /** All events that a replay until this time needs, as a JSON array. */
  read(time: number): string {
    this.#dropOld(time);
    return `[${this.#segments.flatMap(({ events }) => events).join(',')}]`;
  }

  #dropOld(time: number): void {
    while (this.#segments.length > 1 && this.#segments[1]!.startedAt <= time - this.#length)
      this.#dropOldest();
  }

  #dropOldest(): void {
    this.#size -= this.#segments.shift()?.size ?? 0;
  }
}
