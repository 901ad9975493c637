/** Wait until what is on the page now has been painted: for what may come after it. */
export function painted(): Promise<void> {
  return new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
}
