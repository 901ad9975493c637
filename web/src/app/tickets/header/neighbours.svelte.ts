import { api, unwrap } from '../../core/client';

const LIMIT = 100;

/** The tickets before and after the open one: those of its column, in the order of the board. */
class Neighbours {
  #ids = $state.raw<string[]>([]);

  /** The place of a ticket, counted from 1; null if it is not in the list. */
  place(id: string): { position: number; count: number; previous?: string; next?: string } | null {
    const index = this.#ids.indexOf(id);
    if (index < 0 || this.#ids.length < 2) return null;
    const [previous, next] = [this.#ids[index - 1], this.#ids[index + 1]];
    return { position: index + 1, count: this.#ids.length, previous, next };
  }

  /**
   * Load the column of a ticket. A list that holds the ticket stays: the person goes through it, and what they move
   * to another column keeps its place until they leave.
   */
  async load(id: string, column: string | null): Promise<void> {
    if (this.#ids.includes(id) || column === null) return;
    this.#ids = [];
    const query = { column_id: column, sort: 'position' as const, limit: LIMIT };
    try {
      this.#ids = (await unwrap(api.GET('/tickets', { params: { query } }))).items.map((ticket) => ticket.id);
    } catch {
      // without neighbours, the page works as well
    }
  }
}

export const neighbours = new Neighbours();
