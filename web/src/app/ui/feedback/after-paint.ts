/** Wait until the browser has painted the page, so that less urgent work starts after it. */
export function afterPaint(): Promise<void> {
  return new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
}
