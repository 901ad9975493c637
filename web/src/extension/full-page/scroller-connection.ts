import { PORT_NAME, type Command, type PageState } from './protocol';

const TIMEOUT_MS = 5_000;

/** The extension's end of the port to the scroller. */
export class ScrollerConnection {
  readonly #port: chrome.runtime.Port;
  #isDisconnected = false;

  constructor(
    tab: number,
    private readonly signal: AbortSignal,
  ) {
    this.#port = chrome.tabs.connect(tab, { name: PORT_NAME, frameId: 0 });
    this.#port.onDisconnect.addListener(() => (this.#isDisconnected = true));
  }

  /** Send a command and wait for the page's state after it. Raises Error with a message for the user. */
  send(command: Command): Promise<PageState> {
    return new Promise((resolve, reject) => {
      this.signal.throwIfAborted();
      const onAbort = () => reject(this.signal.reason as Error);
      const onDisconnect = () => reject(new Error('The page was closed or reloaded.'));
      if (this.#isDisconnected) return onDisconnect();
      const timeout = setTimeout(() => reject(new Error('The page isn’t responding.')), TIMEOUT_MS);
      const onState = (state: PageState) => {
        clearTimeout(timeout);
        this.signal.removeEventListener('abort', onAbort);
        this.#port.onMessage.removeListener(onState);
        this.#port.onDisconnect.removeListener(onDisconnect);
        resolve(state);
      };
      this.signal.addEventListener('abort', onAbort);
      this.#port.onMessage.addListener(onState);
      this.#port.onDisconnect.addListener(onDisconnect);
      this.#port.postMessage(command);
    });
  }

  close(): void {
    this.#port.disconnect();
  }
}
