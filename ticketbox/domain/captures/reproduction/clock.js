/** The time that the page reads: it begins when the recording began, and runs on. */

/**
 * Shift the page's dates. Its timers stay the browser's own: with Playwright's clock, an error in a timer isn't thrown
 * (https://playwright.dev/docs/clock).
 * @param {import('@playwright/test').Page} page
 * @param {number | null} began In epoch milliseconds; null if unknown.
 */
export async function startClock(page, began) {
  if (began !== null) await page.addInitScript(shiftDates, began - Date.now());
}

/** @param {number} offset In milliseconds. */
function shiftDates(offset) {
  const Native = globalThis.Date;
  const read = Native.now.bind(Native);
  const now = () => read() + offset;
  const Shifted = new Proxy(Native, {
    apply: () => new Native(now()).toString(),
    construct: (target, given, made) =>
      Reflect.construct(target, given.length ? given : [now()], made === Shifted ? target : made),
    get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
  });
  Native.prototype.constructor = Shifted;
  globalThis.Date = Shifted;
}
