import { toasts } from './toasts.svelte';

const MESSAGE =
  'A part of the app couldn’t be loaded. Check the connection, or reload: there may be a new version.';
const YOUNG_MS = 5_000;

/**
 * Parts of the app that are loaded when they are first needed. One that doesn't arrive, because the browser is offline or
 * the server has a new version, needs a new page: browsers such as Chromium 150 remember a module that failed for as long
 * as the page lives. The page reloads when the server answers, unless somebody is writing, or a new page fails as well.
 */
class LazyParts {
  #hasFailed = false;

  constructor() {
    addEventListener('online', () => this.recover());
    addEventListener('vite:preloadError', () => {
      this.#hasFailed = true;
      toasts.showError(MESSAGE, { label: 'Reload page', run: () => location.reload() });
      if (performance.now() > YOUNG_MS) this.recover();
    });
  }

  /** Load the page again if a part failed and the server answers, unless somebody is writing. */
  recover(): void {
    if (this.#hasFailed && !isWriting()) void this.reload();
  }

  /** Load the page again, if the server answers. Otherwise this page has more to show than a proxy's or the browser's. */
  async reload(): Promise<void> {
    const answer = await fetch(location.href, { cache: 'no-store' }).catch(() => undefined);
    if (answer && answer.status < 500) location.reload();
  }
}

/** Whether a text has the focus, or the page would ask before it is left. */
function isWriting(): boolean {
  return (
    document.activeElement?.matches('input, textarea') ||
    !dispatchEvent(new Event('beforeunload', { cancelable: true }))
  );
}

export const lazyParts = new LazyParts();
