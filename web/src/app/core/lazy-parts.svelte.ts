import { toasts } from './toasts.svelte';

const MESSAGE =
  'A part of the app couldn’t be loaded. Check the connection, or reload: there may be a new version.';

/**
 * Parts of the app that are loaded when they are first needed. One that can't be loaded, because the browser is offline
 * or the server has a new version, is loaded again when the connection is back.
 */
class LazyParts {
  /** Increases when failed parts are to be loaded again. */
  attempt = $state(0);
  #failed = new Set<symbol>();
  /** Addresses of style sheets that couldn't be loaded; the bundler's loader tries only once. */
  #styles = new Set<string>();

  constructor() {
    addEventListener('online', () => this.retry());
    addEventListener('vite:preloadError', (event) => {
      const style = /CSS for (\S+)/.exec((event as Event & { payload?: Error }).payload?.message ?? '');
      if (style) this.#styles.add(style[1]!);
      toasts.showError(MESSAGE, { label: 'Reload page', run: () => location.reload() });
    });
  }

  /** Load again what failed. */
  retry(): void {
    for (const href of this.#styles)
      document.head.append(Object.assign(document.createElement('link'), { rel: 'stylesheet', href }));
    this.#styles.clear();
    this.attempt++;
    if (this.#failed.size === 0) toasts.closeText(MESSAGE);
  }

  recordFailure(part: symbol): void {
    this.#failed.add(part);
  }

  recordSuccess(part: symbol): void {
    if (this.#failed.delete(part) && this.#failed.size === 0) toasts.closeText(MESSAGE);
  }

  /** A part isn't needed any more. */
  forget(part: symbol): void {
    this.#failed.delete(part);
  }
}

export const lazyParts = new LazyParts();
