import type { Person } from '../../../../generated/api';
import { api, unwrap } from '../../core/server/client';
import { eventStream } from '../../core/server/event-stream.svelte';

const RENEW_MS = 15_000;

/** The other people who have a ticket open now. The server forgets this tab if it doesn't report for 40 seconds. */
export class Viewers {
  people = $state.raw<Person[]>([]);
  #reporting: Promise<void> | null = null;
  #again = false;
  #isLeft = true;

  constructor(private readonly ticket: string) {}

  /** Report that this tab shows the ticket until the returned function is called. A tab in the background doesn't. */
  enter(): () => void {
    const follow = () => (document.visibilityState === 'visible' ? this.#show() : this.#leave());
    const stop = eventStream.subscribeToPresence((ticket) => ticket === this.ticket && this.#refresh());
    const timer = setInterval(() => this.#refresh(), RENEW_MS);
    document.addEventListener('visibilitychange', follow);
    void eventStream.opened.then(follow);
    return () => {
      stop();
      clearInterval(timer);
      document.removeEventListener('visibilitychange', follow);
      this.#leave();
    };
  }

  #show(): void {
    this.#isLeft = false;
    this.#refresh();
  }

  /** Report again. Concurrent calls become two: the running one, and one after it. */
  #refresh(): void {
    if (this.#isLeft) return;
    if (this.#reporting) {
      this.#again = true;
      return;
    }
    this.#reporting = this.#report(true).finally(() => {
      this.#reporting = null;
      if (!this.#again) return;
      this.#again = false;
      this.#refresh();
    });
  }

  #leave(): void {
    if (this.#isLeft) return;
    this.#isLeft = true;
    this.people = [];
    // after the running report, which would undo it
    void (this.#reporting ?? Promise.resolve()).then(() => (this.#isLeft ? this.#report(false) : undefined));
  }

  async #report(present: boolean): Promise<void> {
    const params = { path: { ticket_id: this.ticket } };
    const body = { stream: eventStream.name, present };
    try {
      const { viewers } = await unwrap(api.PUT('/tickets/{ticket_id}/presence', { params, body }));
      this.people = this.#isLeft ? [] : viewers;
    } catch {
      this.people = []; // without the server, nobody is known to be here
    }
  }
}
