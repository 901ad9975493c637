import { api, unwrap } from '../core/server/client';
import { eventStream } from '../core/server/event-stream.svelte';
import { workspace } from '../core/workspace.svelte';

const DEBOUNCE_MS = 400;
const RECOUNT_MS = 5 * 60_000; // no event says that a snooze ends

/** The number of unread notifications. Events of other people trigger a new count. */
class Inbox {
  unread = $state(0);
  /** Increases whenever the list of notifications may have changed. */
  revision = $state(0);
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Keep the count up to date until the returned function is called. */
  watch(): () => void {
    void this.refresh();
    const recount = setInterval(() => void this.refresh(), RECOUNT_MS);
    const unsubscribe = eventStream.subscribe((event) => {
      // what one's own token does can concern the person: an agent asks
      const isOwn = event.by.user.id === workspace.me?.user.id && event.by.token_label === null;
      if (!event.ticket_id || isOwn) return;
      this.#timer ??= setTimeout(() => {
        this.#timer = undefined;
        void this.refresh();
      }, DEBOUNCE_MS);
    });
    return () => {
      clearInterval(recount);
      unsubscribe();
    };
  }

  async refresh(): Promise<void> {
    try {
      const before = this.unread;
      this.unread = (await unwrap(api.GET('/notifications/unread'))).unread;
      if (this.unread !== before) this.revision++;
    } catch {
      // the next event triggers another count
    }
  }
}

export const inbox = new Inbox();
