/** Going back and forward in the history, and reloading a page, as far as the browser says it. */
interface HistoryEntry {
  index: number;
}
interface NavigationApi extends EventTarget {
  currentEntry: HistoryEntry | null;
  activation?: { from: HistoryEntry | null; entry: HistoryEntry | null } | null;
}
type NavigateEvent = Event & { navigationType: string; userInitiated: boolean };
type EntryChange = Event & { navigationType: string | null; from: HistoryEntry };

export type Traversal = 'back' | 'forward' | 'reload';

// Firefox before 147 has no navigation API
const { navigation } = globalThis as { navigation?: NavigationApi };

/** How this document was opened, if a person used the history; null if an address led to it. */
export function readArrival(): Traversal | null {
  const [timing] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  if (timing?.type === 'reload') return 'reload';
  if (timing?.type !== 'back_forward') return null;
  const { from, entry } = navigation?.activation ?? {};
  return from && entry && entry.index > from.index ? 'forward' : 'back';
}

/** Call `notice` when the address changes in the same document; `how` is null unless a person used the history. */
export function watchTraversals(notice: (how: Traversal | null) => void): void {
  let isByPerson = false;
  navigation?.addEventListener('navigate', (event) => (isByPerson = (event as NavigateEvent).userInitiated));
  navigation?.addEventListener('currententrychange', (event) => {
    const { navigationType, from } = event as EntryChange;
    const index = navigation.currentEntry?.index ?? from.index;
    const isTraversal = navigationType === 'traverse' && isByPerson && index !== from.index;
    notice(isTraversal ? (index < from.index ? 'back' : 'forward') : null);
  });
}
