import { withBase, withoutBase } from './base';
import { parsePath } from './routes';

/** The app's address, without the path of the server's public URL. Links are plain `<a href>`: the router handles their clicks without loading a page. */
class Router {
  #path = $state(readPath());
  #search = $state(location.search);
  /** Whether the present page was reached with Back or Forward. */
  isBack = false;
  readonly #guards = new Set<(address: string) => boolean>();
  readonly route = $derived(parsePath(this.#path));
  readonly query = $derived(new URLSearchParams(this.#search));

  get path(): string {
    return this.#path;
  }

  constructor() {
    addEventListener('popstate', () => {
      this.isBack = true;
      this.#readLocation();
    });
    addEventListener('click', (event) => this.#handleClick(event));
  }

  /** Ask before the page is left; a guard returns whether to stay for now. Returns a function that removes it. */
  addGuard(guard: (address: string) => boolean): () => void {
    this.#guards.add(guard);
    return () => this.#guards.delete(guard);
  }

  /** Navigate to an address of the app, unless the page has unsaved changes and asks first. */
  go(address: string, { replace = false, unguarded = false } = {}): void {
    if (!replace && !unguarded && [...this.#guards].some((guard) => guard(address))) return;
    this.isBack = false;
    if (replace) history.replaceState(null, '', withBase(address));
    else history.pushState(null, '', withBase(address));
    this.#readLocation();
  }

  /** Change query parameters in place; null or an empty string removes one. */
  setQuery(changes: Record<string, string | null>): void {
    const query = new URLSearchParams(this.#search);
    for (const [key, value] of Object.entries(changes)) {
      if (value === null || value === '') query.delete(key);
      else query.set(key, value);
    }
    const text = query.toString();
    this.go(this.#path + (text ? `?${text}` : ''), { replace: true });
  }

  #readLocation(): void {
    this.#path = readPath();
    this.#search = location.search;
  }

  #handleClick(event: MouseEvent): void {
    if (
      event.defaultPrevented ||
      event.button !== 0 ||
      event.metaKey ||
      event.ctrlKey ||
      event.shiftKey ||
      event.altKey
    )
      return;
    const link = (event.target as Element).closest?.('a');
    if (!link || link.target || link.hasAttribute('download') || link.origin !== location.origin) return;
    const path = withoutBase(link.pathname);
    if (path === null || parsePath(path).name === 'notFound') return;
    event.preventDefault();
    this.go(path + link.search + link.hash);
  }
}

function readPath(): string {
  return withoutBase(location.pathname) ?? location.pathname;
}

export const router = new Router();
