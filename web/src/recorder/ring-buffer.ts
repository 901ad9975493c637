import type { ReadOptions } from './capture-types';

/** Keeps the newest entries up to a maximum count and total weight, and counts the dropped ones. */
export class RingBuffer<T> {
  dropped = 0;
  #items: { entry: T; weight: number }[] = [];
  #first = 0;
  #weight = 0;

  constructor(
    private readonly maxCount: number,
    private readonly maxWeight = Infinity,
  ) {}

  push(entry: T, weight = 0): void {
    this.#items.push({ entry, weight });
    this.#weight += weight;
    while (this.#items.length - this.#first > this.maxCount || this.#weight > this.maxWeight) {
      this.#weight -= this.#items[this.#first]!.weight;
      this.#items[this.#first] = undefined as never;
      this.#first += 1;
      this.dropped += 1;
    }
    if (this.#first > this.maxCount) {
      this.#items.splice(0, this.#first);
      this.#first = 0;
    }
  }

  get last(): T | undefined {
    return this.#items.length > this.#first ? this.#items.at(-1)!.entry : undefined;
  }

  get entries(): T[] {
    return this.#items.slice(this.#first).map(({ entry }) => entry);
  }

  /** The newest entries that the options include, and how many are missing because of a limit. */
  read({ since, limit }: ReadOptions, timeOf: (entry: T) => number): { entries: T[]; dropped: number } {
    const { entries } = this;
    const recent = since > 0 ? entries.filter((each) => timeOf(each) >= since) : entries;
    const excess = Math.max(0, recent.length - limit);
    return { entries: excess ? recent.slice(excess) : recent, dropped: this.dropped + excess };
  }
}

/** Convert entries one by one. One that can't be converted costs only itself. */
export function convertEach<S, T>(
  sources: readonly S[],
  convert: (source: S) => T,
): { entries: T[]; unreadable: number } {
  const entries: T[] = [];
  for (const each of sources) {
    try {
      entries.push(convert(each));
    } catch {
      // counted below
    }
  }
  return { entries, unreadable: sources.length - entries.length };
}
