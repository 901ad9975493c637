// @ts-check
/** What a run observes, and the file that says it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { GRAPHQL_ERRORS } from './answers.js';

const POLL_MS = 100;

/**
 * Observe what fails in the pages of a run. The recorder of the capture runs in each, so that the same failure has the
 * same words here and there. Returns what was seen, and a function that waits until the pages have said all of it.
 * @param {import('@playwright/test').Page} page @param {string} file The recorder.
 * @param {Map<unknown, number>} lacking The recorded status of calls that BASE_URL answers. Another status says that
 *   the application isn't in the captured state.
 */
export async function observe(page, file, lacking) {
  const observed = {
    errors: /** @type {import('./failures.js').PageError[]} */ ([]),
    failed_requests: /** @type {import('./failures.js').FailedRequest[]} */ ([]),
    printed: /** @type {import('./failures.js').Printed[]} */ ([]),
    diverged: false,
    outdated: false,
    uncertain: false,
  };
  const compare = (/** @type {unknown} */ request, /** @type {number} */ status) => {
    if (lacking.has(request) && lacking.get(request) !== status) observed.diverged = true;
  };
  page.on('response', (response) => {
    const [method, url, status] = [response.request().method(), response.url(), response.status()];
    compare(response.request(), status);
    if (status >= 400) observed.failed_requests.push({ method, url, status, error: null });
  });
  page.on('requestfailed', (request) => {
    const error = request.failure()?.errorText ?? 'failed';
    compare(request, 0);
    observed.failed_requests.push({ method: request.method(), url: request.url(), status: null, error });
  });

  const known = new Set();
  const isNew = (/** @type {unknown[]} */ ...said) => {
    const text = said.join(' ');
    return !known.has(text) && known.add(text);
  };
  const add = (/** @type {string | null} */ said) => {
    const record = said ? JSON.parse(said) : {}; // a document without the recorder says nothing
    for (const { kind, name, message, stack, frames, source } of record.errors ?? [])
      if ((kind === 'error' || kind === 'unhandledrejection') && isNew(kind, name, message, source))
        observed.errors.push({ name, message, stack: stack ?? '', frames });
    for (const { method, url, status, error } of record.network ?? [])
      if (error?.startsWith(GRAPHQL_ERRORS) && isNew(method, url, error))
        observed.failed_requests.push({ method, url, status, error });
    for (const { level, args, stack, source } of record.console ?? [])
      if (level === 'error' && isNew(...args, source))
        observed.printed.push({ text: args.join(' '), frames: parseFrames(stack ?? '') });
  };
  await page.exposeBinding('__reproductionRecord', (_, /** @type {string} */ said) => add(said));
  const recorder = readFileSync(file, 'utf8');
  await page.addInitScript(`globalThis.ticketboxRecordsBodies = true;${recorder};(${exposeRecord})();`);
  let reading = Promise.resolve();
  const read = async () => {
    for (const frame of page.frames()) add(await frame.evaluate(readRecord).catch(() => null)); // a page that is being left
  };
  let isReading = false;
  const timer = setInterval(() => {
    if (isReading) return;
    isReading = true;
    reading = read().finally(() => (isReading = false));
  }, POLL_MS);
  page.on('close', () => clearInterval(timer));
  return {
    observed,
    async readAll() {
      await reading;
      await read();
    },
  };
}

/** The frames of a stack in the recorder's format. @param {string} stack @returns {import('./failures.js').Frame[]} */
function parseFrames(stack) {
  const lines = stack.matchAll(/^ {4}at (.*) \((\S*?)(?::(\d+))?(?::\d+)?\)$/gm);
  return [...lines].map(([, name = '', url = '', line]) => ({
    url,
    function: name,
    line: line ? Number(line) : null,
  }));
}

/** Runs in the page, after the recorder: keeps how its record is read where the run finds it, and says it at the end. */
function exposeRecord() {
  const channel = `replay-${Math.random()}`;
  document.dispatchEvent(new CustomEvent('ticketbox:channel', { detail: channel }));
  const report = /** @type {any} */ (globalThis).__reproductionRecord;
  Reflect.deleteProperty(globalThis, '__reproductionRecord');
  const read = () => {
    let record = '';
    const keep = (/** @type {any} */ { detail }) => (record = detail);
    document.addEventListener(`${channel}!`, keep, { once: true });
    document.dispatchEvent(new CustomEvent(channel, { detail: '0 1000' }));
    return record;
  };
  Object.defineProperty(globalThis, Symbol.for('ticketbox:record'), { value: read });
  addEventListener('pagehide', () => report(read()));
}

/** Runs in the page. @returns {string | null} */
function readRecord() {
  return /** @type {any} */ (globalThis)[Symbol.for('ticketbox:record')]?.() ?? null;
}

/**
 * Write what a run observed to the file in REPRODUCTION_RESULT, and a picture of the page, if there is one, beside it.
 * @param {import('@playwright/test').Page | null} page @param {import('./verdict.js').Judgement} judgement
 * @param {import('./failures.js').Failures} [observed]
 */
export async function saveResult(page, judgement, observed) {
  const file = process.env.REPRODUCTION_RESULT;
  if (!file) return;
  const picture = `${file.replace(/\.json$/, '')}.png`;
  const isTaken = await page?.screenshot({ path: picture }).catch(() => null);
  const { errors = [], failed_requests = [], printed = [] } = observed ?? {};
  const result = {
    ...judgement,
    errors,
    failed_requests,
    console_errors: printed.map(({ text }) => text),
    screenshot: isTaken ? picture : null,
  };
  writeFileSync(file, JSON.stringify(result, null, 2));
}
