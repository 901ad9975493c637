/** Wait until the browser has painted the page, so that less urgent work starts after it. */
export function afterPaint(): Promise<void> {
  return new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
}

/** Wait until the browser has nothing more urgent to do, at most a second. Safari has no idle callbacks. */
export function whenIdle(): Promise<void> {
  return new Promise((done) =>
    'requestIdleCallback' in globalThis
      ? requestIdleCallback(() => done(), { timeout: 1000 })
      : setTimeout(done, 200),
  );
}
