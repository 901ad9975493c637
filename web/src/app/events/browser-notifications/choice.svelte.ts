import { workspace } from '../../core/workspace.svelte';

const KEY = 'browser-notifications';

/** Whether this browser shows notifications: chosen here by this person, and permitted by the browser. */
class BrowserNotifications {
  /** The id of the person who turned them on in this browser. */
  #chosenBy = $state(localStorage.getItem(KEY));
  #permission = $state<NotificationPermission | null>(readPermission());
  readonly isOn = $derived(
    this.#permission === 'granted' && this.#chosenBy !== null && this.#chosenBy === workspace.me?.user.id,
  );

  constructor() {
    addEventListener('storage', (event) => {
      if (event.key === KEY) this.#chosenBy = event.newValue; // changed in another tab
    });
  }

  /** Only browsers that open ticketbox by https, or on the same machine, have them. */
  get isSupported(): boolean {
    return this.#permission !== null;
  }

  /** Whether the person has refused them in the browser, which can be changed only there. */
  get isBlocked(): boolean {
    return this.#permission === 'denied';
  }

  /** Ask the browser for permission. Must be called for a click, as browsers require. */
  async turnOn(): Promise<void> {
    this.#permission = await Notification.requestPermission();
    if (this.#permission === 'granted') this.#choose(workspace.me!.user.id);
  }

  turnOff(): void {
    this.#choose(null);
  }

  #choose(user: string | null): void {
    this.#chosenBy = user;
    if (user === null) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, user);
  }
}

function readPermission(): NotificationPermission | null {
  return 'Notification' in window && 'locks' in navigator ? Notification.permission : null;
}

export const browserNotifications = new BrowserNotifications();
