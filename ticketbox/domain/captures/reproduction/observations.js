// @ts-check
/** What a run observes, and the file that says it. */
import { readFileSync, writeFileSync } from 'node:fs';

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

const POLL_MS = 100;

/**
 * Observe a page with the recorder of the capture: it also sees what the page handles itself, and writes thrown values
 * and printed objects as the capture has them. Returns what it recorded, and a function that reads it once more.
 * @param {import('@playwright/test').Page} page @param {string} file The recorder.
 */
export async function record(page, file) {
  await page.addInitScript(`${readFileSync(file, 'utf8')};(${exposeRecord})();`);
  /** @type {{ errors: import('./failures.js').PageError[], console_errors: string[] }} */
  const recorded = { errors: [], console_errors: [] };
  const known = new Set();
  const read = async () => {
    for (const frame of page.frames()) {
      const record = await frame.evaluate(readExposed).catch(() => null); // a page that is being left
      if (!record) continue;
      for (const { kind, name, message, stack } of record.errors) {
        const isNew = !known.has(`${kind} ${name} ${message}`) && known.add(`${kind} ${name} ${message}`);
        if (isNew && (kind === 'error' || kind === 'unhandledrejection'))
          recorded.errors.push({ name, message, stack: stack ?? '' });
      }
      for (const { level, args } of record.console) {
        const text = args.join(' ');
        if (level === 'error' && !known.has(text) && known.add(text)) recorded.console_errors.push(text);
      }
    }
  };
  const timer = setInterval(() => void read(), POLL_MS);
  page.on('close', () => clearInterval(timer));
  return { recorded, read };
}

/** Runs in the page, after the recorder: keeps how its record is read where the run finds it. */
function exposeRecord() {
  const channel = `replay-${Math.random()}`;
  document.dispatchEvent(new CustomEvent('ticketbox:channel', { detail: channel }));
  Object.defineProperty(globalThis, Symbol.for('ticketbox:record'), {
    value: () => {
      let record = '';
      const keep = (/** @type {any} */ { detail }) => (record = detail);
      document.addEventListener(`${channel}!`, keep, { once: true });
      document.dispatchEvent(new CustomEvent(channel, { detail: '0 1000' }));
      return record;
    },
  });
}

/** Runs in the page. @returns {any} */
function readExposed() {
  const read = /** @type {any} */ (globalThis)[Symbol.for('ticketbox:record')];
  const record = read ? JSON.parse(read()) : null;
  return record && !record.error ? { errors: record.errors, console: record.console } : null;
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
