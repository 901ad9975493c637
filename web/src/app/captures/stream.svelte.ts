import { data } from '../core/client';

const PAGE = 100;

interface Answer<T> {
  items: T[];
  next_cursor: string | null;
}
type Next<T> = (query: { limit: number; cursor?: string }) => Promise<{ data?: Answer<T> }>;

/** A capture's stream, read page after page: what is there is shown while the rest comes. */
export class Stream<T> {
  entries = $state.raw<T[]>([]);
  done = $state(false);
  error = $state.raw<unknown>(null);
  #next: Next<T>;
  #cursor: string | undefined;
  #stopped = false;

  constructor(next: Next<T>) {
    this.#next = next;
    void this.load();
  }

  /** Read on from where it stopped. */
  async load(): Promise<void> {
    this.error = null;
    try {
      while (!this.done && !this.#stopped) {
        const page = await data(this.#next({ limit: PAGE, cursor: this.#cursor }));
        this.entries = [...this.entries, ...page.items];
        this.#cursor = page.next_cursor ?? undefined;
        this.done = page.next_cursor === null;
      }
    } catch (error) {
      this.error = error;
    }
  }

  stop(): void {
    this.#stopped = true;
  }
}
