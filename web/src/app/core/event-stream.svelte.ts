import type { Event } from '../../../generated/api';

type Listener = (event: Event) => void;

/**
 * Events as they happen (docs/use/events.md, "Stream events"). The browser reconnects by itself and says where it was;
 * `connected` is for the sign that live updates pause.
 */
class Live {
  connected = $state(true);
  #listeners = new Set<Listener>();
  #source: EventSource | null = null;

  /** Listen until the returned function is called. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    this.#open();
    return () => {
      this.#listeners.delete(listener);
    };
  }

  #open(): void {
    if (this.#source) return;
    const source = (this.#source = new EventSource('/api/v1/events/stream'));
    source.onopen = () => (this.connected = true);
    source.onerror = () => {
      this.connected = false;
      if (source.readyState === EventSource.CLOSED) {
        this.#source = null;
        setTimeout(() => this.#listeners.size > 0 && this.#open(), 5_000);
      }
    };
    source.onmessage = (message) => {
      const event: Event = JSON.parse(message.data);
      for (const listener of this.#listeners) listener(event);
    };
  }
}

export const live = new Live();
