import { api, data } from '../../core/client';
import { toasts } from '../../core/toasts.svelte';

/** Whether the person hears of a ticket; asked once, when the page opens. */
export class Muting {
  muted = $state<boolean | null>(null);
  readonly #path: { ticket_id: string };

  constructor(ticket: string) {
    this.#path = { ticket_id: ticket };
    data(api.GET('/mutes')).then(
      (mutes) => (this.muted = mutes.ticket_ids.includes(ticket)),
      () => undefined, // the menu leaves the choice out
    );
  }

  async toggle(): Promise<void> {
    const params = { path: this.#path };
    try {
      if (this.muted) await api.DELETE('/tickets/{ticket_id}/mute', { params });
      else await api.PUT('/tickets/{ticket_id}/mute', { params });
      this.muted = !this.muted;
      toasts.say(this.muted ? 'Muted: you hear no more of this ticket.' : 'You hear of this ticket again.');
    } catch (error) {
      toasts.failed(error);
    }
  }
}
