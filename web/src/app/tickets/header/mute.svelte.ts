import { api, unwrap } from '../../core/server/client';
import { toasts } from '../../core/toasts.svelte';

/** Whether the signed-in user has muted a ticket. Loaded once, when the page opens. */
export class MuteState {
  muted = $state<boolean | null>(null);
  readonly #path: { ticket_id: string };

  constructor(ticket: string) {
    this.#path = { ticket_id: ticket };
    unwrap(api.GET('/mutes')).then(
      (mutes) => (this.muted = mutes.ticket_ids.includes(ticket)),
      () => undefined, // the menu omits the item
    );
  }

  async toggle(): Promise<void> {
    const params = { path: this.#path };
    try {
      if (this.muted) await api.DELETE('/tickets/{ticket_id}/mute', { params });
      else await api.PUT('/tickets/{ticket_id}/mute', { params });
      this.muted = !this.muted;
      toasts.show(this.muted ? 'Ticket muted. You get no notifications for it.' : 'Ticket unmuted.');
    } catch (error) {
      toasts.showError(error);
    }
  }
}
