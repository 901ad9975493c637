import type { Route } from './routes';

/** What makes it another page: another view of the same project isn't one. */
export function identifyPage(route: Route): string {
  switch (route.name) {
    case 'board':
      return `board ${route.project}`;
    case 'ticket':
      return `ticket ${route.ticket}`;
    case 'settings':
    case 'company':
      return `${route.name} ${route.section}`;
    default:
      return route.name;
  }
}

/** Focus the heading of a new page when it is there, unless something on the page has the focus by then. */
export function focusHeading(main: HTMLElement): () => void {
  const observer = new MutationObserver(tryToFocus);

  function tryToFocus(): void {
    const heading = main.querySelector('h1');
    if (!heading?.textContent.trim()) return;
    observer.disconnect();
    const active = document.activeElement;
    if (active !== main && main.contains(active)) return;
    heading.tabIndex = -1;
    heading.focus({ preventScroll: true });
  }

  observer.observe(main, { childList: true, subtree: true, characterData: true });
  queueMicrotask(tryToFocus);
  return () => observer.disconnect();
}
