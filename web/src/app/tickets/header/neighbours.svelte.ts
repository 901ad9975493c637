import { api, unwrap } from '../../core/server/client';

const LIMIT = 100;

/** The tickets before and after the open one: those of the list that it was opened from, else those of its column. */
class Neighbours {
  #ids = $state.raw<string[]>([]);
  #lists: string[][] = [];

  /** The place of a ticket, counted from 1; null if it is not in the list. */
  place(id: string): { position: number; count: number; previous?: string; next?: string } | null {
    const index = this.#ids.indexOf(id);
    if (index < 0 || this.#ids.length < 2) return null;
    const [previous, next] = [this.#ids[index - 1], this.#ids[index + 1]];
    return { position: index + 1, count: this.#ids.length, previous, next };
  }

  /** Remember the lists of a page that is left, as they are filtered and sorted: the lanes of a board, or a table. */
  remember(lists: { id: string }[][]): void {
    this.#lists = lists.map((tickets) => tickets.map(({ id }) => id));
    this.#ids = [];
  }

  /**
   * Find the list of a ticket, or load its column. A list that holds the ticket stays: the person goes through it, and
   * what they move to another column keeps its place until they leave.
   */
  async load(id: string, column: string | null): Promise<void> {
    if (this.#ids.includes(id)) return;
    this.#ids = this.#lists.find((list) => list.includes(id)) ?? [];
    if (this.#ids.length > 0 || column === null) return;
    const query = { column_id: [column], sort: 'position' as const, limit: LIMIT };
    try {
      this.#ids = (await unwrap(api.GET('/tickets', { params: { query } }))).items.map((ticket) => ticket.id);
    } catch {
      // without neighbours, the page works as well
    }
  }
}

export const neighbours = new Neighbours();
