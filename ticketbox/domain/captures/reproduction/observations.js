// @ts-check
/** What a run observes, and the file that says it. */
import { writeFileSync } from 'node:fs';

/**
 * Collect what fails in a page.
 * @param {import('@playwright/test').Page} page
 * @param {Map<unknown, number>} lacking The recorded status of calls that BASE_URL answers. Another status says that
 *   the application isn't in the captured state.
 */
export function observe(page, lacking) {
  const observed = {
    errors: /** @type {import('./failures.js').PageError[]} */ ([]),
    failed_requests: /** @type {import('./failures.js').FailedRequest[]} */ ([]),
    console_errors: /** @type {string[]} */ ([]),
    diverged: false,
    outdated: false,
    uncertain: false,
  };
  const compare = (/** @type {unknown} */ request, /** @type {number} */ status) => {
    if (lacking.has(request) && lacking.get(request) !== status) observed.diverged = true;
  };
  page.on('pageerror', ({ name, message, stack = '' }) => observed.errors.push({ name, message, stack }));
  page.on('console', (message) => {
    const isBrowsers = message.text().startsWith('Failed to load resource:');
    if (message.type() === 'error' && !isBrowsers) observed.console_errors.push(message.text());
  });
  page.on('response', (response) => {
    const [method, url, status] = [response.request().method(), response.url(), response.status()];
    compare(response.request(), status);
    if (status >= 400) observed.failed_requests.push({ method, url, status, error: null });
  });
  page.on('requestfailed', (request) => {
    const error = request.failure()?.errorText ?? 'failed';
    compare(request, 0);
    observed.failed_requests.push({
      method: request.method(),
      url: request.url(),
      status: null,
      error,
    });
  });
  return observed;
}

/**
 * Write what a run observed to the file in REPRODUCTION_RESULT, and a picture of the page, if there is one, beside it.
 * @param {import('@playwright/test').Page | null} page @param {object} result
 */
export async function saveResult(page, result) {
  const file = process.env.REPRODUCTION_RESULT;
  if (!file) return;
  const picture = `${file.replace(/\.json$/, '')}.png`;
  const isTaken = await page?.screenshot({ path: picture }).catch(() => null);
  const nothing = { errors: [], failed_requests: [], console_errors: [] };
  const screenshot = isTaken ? picture : null;
  writeFileSync(file, JSON.stringify({ ...nothing, ...result, screenshot }, null, 2));
}
