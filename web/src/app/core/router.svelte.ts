/** Where the app is: the address, parsed. Links are plain `<a href>`; this keeps them from loading a page. */

export type Route =
  | { name: 'home' }
  | { name: 'board'; project: string; view: 'board' | 'table' | 'archive' }
  | { name: 'ticket'; ticket: string; tab: string | null }
  | { name: 'settings'; section: string }
  | { name: 'company'; company: string; section: string }
  | { name: 'search' }
  | { name: 'inbox' }
  | { name: 'invitation'; secret: string }
  | { name: 'nowhere' };

// The server sends the app for these alone: ticketbox/http/webapp.py.
export function parse(path: string): Route {
  const [first, id, rest] = path.split('/').slice(1).map(decodeURIComponent);
  switch (first) {
    case '':
      return { name: 'home' };
    case 'projects':
      if (id && (rest === undefined || rest === 'table' || rest === 'archive'))
        return { name: 'board', project: id, view: rest ?? 'board' };
      break;
    case 'tickets':
      if (id) return { name: 'ticket', ticket: id, tab: rest ?? null };
      break;
    case 'settings':
      return { name: 'settings', section: id ?? 'profile' };
    case 'companies':
      if (id) return { name: 'company', company: id, section: rest ?? 'general' };
      break;
    case 'search':
      return { name: 'search' };
    case 'inbox':
      return { name: 'inbox' };
    case 'invitations':
      if (id) return { name: 'invitation', secret: id };
  }
  return { name: 'nowhere' };
}

class Router {
  #path = $state(location.pathname);
  #search = $state(location.search);
  readonly route = $derived(parse(this.#path));
  readonly query = $derived(new URLSearchParams(this.#search));

  get path(): string {
    return this.#path;
  }

  constructor() {
    addEventListener('popstate', () => this.#read());
    addEventListener('click', (event) => this.#follow(event));
  }

  /** Go to an address of the app. */
  go(address: string, { replace = false } = {}): void {
    if (replace) history.replaceState(null, '', address);
    else history.pushState(null, '', address);
    this.#read();
    if (!replace) scrollTo(0, 0);
  }

  /** Change the query alone; null takes a key away. */
  filter(changes: Record<string, string | null>): void {
    const query = new URLSearchParams(this.#search);
    for (const [key, value] of Object.entries(changes)) {
      if (value === null || value === '') query.delete(key);
      else query.set(key, value);
    }
    const text = query.toString();
    this.go(this.#path + (text ? `?${text}` : ''), { replace: true });
  }

  #read(): void {
    this.#path = location.pathname;
    this.#search = location.search;
  }

  #follow(event: MouseEvent): void {
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
    if (parse(link.pathname).name === 'nowhere') return;
    event.preventDefault();
    this.go(link.pathname + link.search + link.hash);
  }
}

export const router = new Router();
