import type { Hit } from '../../../generated/api';
import { api, unwrap } from '../core/server/client';
import { describeError, Problem, type Span } from '../core/server/problem';

const DEBOUNCE_MS = 120;
const MIN_LENGTH = 2;

/** The ticket search of the palette, while somebody types. */
export class TicketSearch {
  tickets = $state.raw<Hit[]>([]);
  isBusy = $state(false);
  /** What is wrong with the query, and where in the text. */
  error = $state('');
  wrong = $state.raw<Span>();
  #limit: number;
  #latest = 0;
  /** The project and the query that the tickets are of. */
  #found = '';

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Search one project, or all, after a pause in typing. The returned function cancels it. */
  search(text: string, project?: string): () => void {
    const query = text.trim();
    const run = ++this.#latest;
    // results of another query must not be opened by mistake
    if (!nameSearch(query, project).startsWith(this.#found)) this.tickets = [];
    this.error = '';
    this.wrong = undefined;
    const isLongEnough = query.length >= MIN_LENGTH;
    this.isBusy = isLongEnough; // not read here: callers are effects, which must run for new texts only
    if (!isLongEnough) {
      this.tickets = [];
      return () => undefined;
    }
    const timer = setTimeout(() => void this.#fetch(text, project, run), DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }

  async #fetch(text: string, project: string | undefined, run: number): Promise<void> {
    const q = text.trim();
    try {
      const query = { q, project_id: project, status: 'all' as const, limit: this.#limit, typing: true };
      const page = await unwrap(api.GET('/search', { params: { query } }));
      if (run === this.#latest) [this.tickets, this.#found] = [page.items, nameSearch(q, project)];
    } catch (error) {
      if (run !== this.#latest) return;
      const problem = error instanceof Problem ? error : undefined;
      this.error = problem?.fieldError('q') ?? describeError(error);
      const offset = text.length - text.trimStart().length;
      const span = problem?.span;
      this.wrong = span && { start: span.start + offset, end: span.end + offset };
    } finally {
      if (run === this.#latest) this.isBusy = false;
    }
  }
}

function nameSearch(query: string, project = ''): string {
  return `${project} ${query}`;
}
