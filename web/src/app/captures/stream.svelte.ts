import { unwrap } from '../core/server/client';

const PAGE_SIZE = 100;

interface Page<T> {
  items: T[];
  next_cursor: string | null;
}
type FetchPage<T> = (query: { limit: number; cursor?: string }) => Promise<{ data?: Page<T> }>;

/** A capture's stream, loaded page by page. `entries` grows while further pages load. */
export class CaptureStream<T> {
  entries = $state.raw<T[]>([]);
  done = $state(false);
  error = $state.raw<unknown>(null);
  #fetchPage: FetchPage<T>;
  #cursor: string | undefined;
  #stopped = false;

  constructor(fetchPage: FetchPage<T>) {
    this.#fetchPage = fetchPage;
    void this.load();
  }

  /** Load the remaining pages. */
  async load(): Promise<void> {
    this.error = null;
    try {
      while (!this.done && !this.#stopped) {
        const page = await unwrap(this.#fetchPage({ limit: PAGE_SIZE, cursor: this.#cursor }));
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
