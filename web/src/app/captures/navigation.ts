/** The places in a list of entries where another document of the tab begins. */
export function findNavigations(entries: readonly { document?: number }[]): Set<number> {
  const places = new Set<number>();
  let latest = entries[0]?.document ?? 0;
  // a page that is being left can still log after the next one has begun to load
  entries.forEach(({ document = 0 }, place) => {
    if (document <= latest) return;
    latest = document;
    places.add(place);
  });
  return places;
}
