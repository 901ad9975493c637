const WINDOW_MS = 10_000;
/** The share of the main thread that a recorder may need. */
const MAX_SHARE = 0.02;
/** What it may need within one window: a page that changes completely is slow the first time already. */
const MAX_BURST_MS = 1_000;
const CHANGES: MutationObserverInit = {
  attributes: true,
  characterData: true,
  childList: true,
  subtree: true,
};

/**
 * Measures what a recorder costs the page.
 *
 * The browser calls mutation observers in the order of their creation, so two of ours, created before and after the
 * recorder's, enclose it.
 */
export class CostMeter {
  #begunAt: number | null = null;
  #spent = 0;
  #windowStart: number;
  #expensiveWindows = 0;
  #observers: MutationObserver[] = [];
  readonly #onExcess: () => void;
  readonly #clock: () => number;

  /** `clock` returns milliseconds. `onExcess`: called if the recorder needed too much for two windows in a row, or far too much in one. */
  constructor(onExcess: () => void, clock: () => number) {
    this.#onExcess = onExcess;
    this.#clock = clock;
    this.#windowStart = clock();
  }

  /** Start a recorder, and measure what it does when the page changes. */
  enclose(start: () => void): void {
    this.#observe(() => {
      this.#begunAt = this.#clock();
      queueMicrotask(() => (this.#begunAt = null)); // in case the second isn't called
    });
    this.measure(start);
    this.#observe(() => {
      if (this.#begunAt === null) return;
      const spent = this.#clock() - this.#begunAt;
      this.#begunAt = null;
      this.#add(spent);
    });
  }

  /** Do some of the recorder's work, and count its time. */
  measure(work: () => void): void {
    if (this.#begunAt !== null) return work();
    const begunAt = (this.#begunAt = this.#clock());
    try {
      work();
    } finally {
      this.#begunAt = null;
      this.#add(this.#clock() - begunAt);
    }
  }

  stop(): void {
    for (const observer of this.#observers) observer.disconnect();
  }

  #observe(listener: () => void): void {
    const observer = new MutationObserver(listener);
    observer.observe(document, CHANGES);
    this.#observers.push(observer);
  }

  #add(spent: number): void {
    this.#spent += spent;
    if (this.#spent > MAX_BURST_MS) return this.#onExcess();
    const length = this.#clock() - this.#windowStart;
    if (length < WINDOW_MS) return;
    this.#expensiveWindows = this.#spent > MAX_SHARE * length ? this.#expensiveWindows + 1 : 0;
    this.#spent = 0;
    this.#windowStart = this.#clock();
    if (this.#expensiveWindows === 2) this.#onExcess();
  }
}
