import { api, unwrap } from '../../core/server/client';
import { eventStream } from '../../core/server/event-stream.svelte';

const SOON_MS = 400;
const PAUSE_MS = 5_000; // between two requests, however much happens
/** Events after which another number of tickets can be open. */
const CHANGES = /^view\.|^ticket\.(?!work_[ps]|question_|approval_)/;

/** How many open tickets are assigned to the person, and in each saved view: up to 100, null if that isn't known. */
class TicketCounts {
  assigned = $state<number | null>(null);
  #views = $state.raw<Record<string, number | null>>({});
  #company = '';
  #timer: ReturnType<typeof setTimeout> | undefined;
  #last = -PAUSE_MS;

  inView(id: string): number | null {
    return this.#views[id] ?? null;
  }

  /** Keep the counts for a company's sidebar up to date until the returned function is called. */
  watch(company: string): () => void {
    this.#company = company;
    const refresh = () => this.refresh();
    this.refresh();
    const unsubscribe = eventStream.subscribe((event) => CHANGES.test(event.type) && refresh());
    document.addEventListener('visibilitychange', refresh);
    return () => {
      this.#cancel();
      unsubscribe();
      document.removeEventListener('visibilitychange', refresh);
    };
  }

  /** Load the counts soon: once for several calls, and in a hidden tab when it is shown again. */
  refresh(): void {
    if (document.hidden) return this.#cancel();
    this.#timer ??= setTimeout(
      () => void eventStream.opened.then(() => this.#load()),
      Math.max(SOON_MS, this.#last + PAUSE_MS - performance.now()),
    );
  }

  #cancel(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  async #load(): Promise<void> {
    this.#timer = undefined;
    this.#last = performance.now();
    const path = { company_id: this.#company };
    try {
      const counts = await unwrap(api.GET('/companies/{company_id}/ticket-counts', { params: { path } }));
      this.assigned = counts.assigned;
      this.#views = Object.fromEntries(counts.views.map((each) => [each.view_id, each.open]));
    } catch {
      // the next event loads them again
    }
  }
}

export const ticketCounts = new TicketCounts();
