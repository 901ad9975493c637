import type { SimilarTicket } from '../../../../generated/api';
import { api, unwrap } from '../../core/server/client';

const DEBOUNCE_MS = 300;
const MIN_LENGTH = 4;
const LIMIT = 3;

/** Finds tickets whose titles are similar to one that is being typed. */
export class SimilarTitles {
  tickets = $state.raw<SimilarTicket[]>([]);
  #latest = 0;

  /** Search a company after a pause in typing. The returned function cancels it. */
  search(title: string, company: string): () => void {
    const run = ++this.#latest;
    const text = title.trim();
    if (text.length < MIN_LENGTH) {
      this.tickets = [];
      return () => undefined;
    }
    const timer = setTimeout(() => void this.#fetch(text, company, run), DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }

  async #fetch(title: string, company: string, run: number): Promise<void> {
    const query = { title, company_id: company, status: 'all' as const, limit: LIMIT };
    const found = await unwrap(api.GET('/similar', { params: { query } })).then(
      ({ items }) => items,
      () => [], // not important enough for an error message
    );
    if (run === this.#latest) this.tickets = found;
  }
}
