import { withBase } from '../navigation/base';
import type { Event } from '../../../../generated/api';
import { boot } from './boot';
import { lazyParts } from '../lazy-parts';

type Listener = (event: Event) => void;
type PresenceListener = (ticket: string) => void;

/**
 * Events since the page was sent, as they happen (docs/use/events.md, "Stream events"). The browser reconnects and sends
 * the last event's id; `connected` is false while live updates are paused.
 */
class EventStream {
  connected = $state(true);
  /** The name of this tab's stream, by which the server finds it. */
  readonly name = crypto.getRandomValues(new Uint32Array(3)).join('-');
  #listeners = new Set<Listener>();
  #presenceListeners = new Set<PresenceListener>();
  #source: EventSource | null = null;
  #last = boot.last_event;
  #setOpened = (): void => undefined;
  /** Resolves when the stream is open, or can't be opened. What is loaded after that misses no event. */
  readonly opened = new Promise<void>((resolve) => (this.#setOpened = resolve));

  constructor() {
    // the browser may take minutes to notice that the stream is gone
    addEventListener('offline', () => (this.connected = false));
    addEventListener('online', () => (this.connected = this.#source?.readyState === EventSource.OPEN));
  }

  /** Call `listener` for every event until the returned function is called. */
  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    this.#open();
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** Call `listener` with the id of every ticket that other people opened or left, of those this tab reports. */
  subscribeToPresence(listener: PresenceListener): () => void {
    this.#presenceListeners.add(listener);
    return () => {
      this.#presenceListeners.delete(listener);
    };
  }

  #open(): void {
    if (this.#source) return;
    const after = this.#last ? `&after=${this.#last}` : '';
    const address = withBase(`/api/v1/events/stream?stream=${this.name}${after}`);
    const source = (this.#source = new EventSource(address));
    source.onopen = () => {
      if (!this.connected) lazyParts.recover();
      this.connected = true;
      this.#setOpened();
    };
    source.onerror = () => {
      this.connected = false;
      this.#setOpened();
      if (source.readyState === EventSource.CLOSED) {
        this.#source = null;
        setTimeout(() => this.#listeners.size > 0 && this.#open(), 5_000);
      }
    };
    source.addEventListener('presence', (message) => {
      const { ticket_id }: { ticket_id: string } = JSON.parse(message.data);
      for (const listener of this.#presenceListeners) listener(ticket_id);
    });
    source.onmessage = (message) => {
      this.#last = message.lastEventId || this.#last;
      const event: Event = JSON.parse(message.data);
      for (const listener of this.#listeners) listener(event);
    };
  }
}

export const eventStream = new EventStream();
