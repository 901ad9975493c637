import { api, data } from '../core/client';
import { live } from '../core/event-stream.svelte';
import { workspace } from '../core/workspace.svelte';

const GATHER_MS = 400;

/** How many notifications wait to be read. What others do may add one, so their events make it ask again. */
class Inbox {
  unread = $state(0);
  /** Grows whenever there may be something new to list. */
  news = $state(0);
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Keep the count true until the returned function is called. */
  watch(): () => void {
    void this.refresh();
    return live.listen((event) => {
      if (!event.ticket_id || event.by.user.id === workspace.me?.user.id) return;
      this.#timer ??= setTimeout(() => {
        this.#timer = undefined;
        void this.refresh();
      }, GATHER_MS);
    });
  }

  async refresh(): Promise<void> {
    try {
      const before = this.unread;
      this.unread = (await data(api.GET('/notifications/unread'))).unread;
      if (this.unread !== before) this.news++;
    } catch {
      // the count is told again with the next event; nobody asked for it
    }
  }
}

export const inbox = new Inbox();
