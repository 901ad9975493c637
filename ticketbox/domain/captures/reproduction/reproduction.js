// @ts-check
/**
 * Replays a capture in Playwright: serves the recorded answers from network.har, keeps the recorded order of steps and
 * answers, and observes what fails. The page itself comes from BASE_URL.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { API_TYPES, buildAnswer, chooseAnswer, comparePaths, listCalls } from './answers.js';

/**
 * @typedef {{ name: string, message: string, stack: string }} PageError
 * @typedef {{ method: string, url: string, status: number | null, error: string | null }} FailedRequest
 */

const CHANGING = /\b(?:[0-9a-f]{8}-[0-9a-f-]{27}|0x[0-9a-f]+|(?=[a-f]*\d)[0-9a-f]{7,})\b|\d+(?:[.,]\d+)*/gi;
/** The slowest answer takes this long; the others keep their share of it. */
const SLOWEST_MS = 1_000;
const ACTION_MS = 5_000;
const UNSENT_MS = 500;
const NAMED_MS = 1_000;

/**
 * Start replaying a capture in a page.
 * @param {import('@playwright/test').Page} page
 * @param {{ file: string }} testInfo The test's file; the capture's files are in the same folder.
 * @param {{ unknown?: 'pass' | 'fail' }} [options] What happens to requests that weren't recorded. Those to hosts other
 *   than that of BASE_URL always fail.
 */
export async function replayCapture(page, testInfo, { unknown = 'pass' } = {}) {
  const base = process.env.BASE_URL;
  if (!base)
    throw new Error('Set BASE_URL to the address of the application, such as http://localhost:3000.');
  const read = (/** @type {string} */ name) =>
    JSON.parse(readFileSync(join(dirname(testInfo.file), name), 'utf8'));
  const expected = read('expected.json');
  const entries = read('network.har').log.entries;
  const { answered: recorded, unanswered } = listCalls(entries);
  const slowest = Math.max(SLOWEST_MS, ...recorded.map(({ starts, ends }) => ends - starts));
  /** The recorded status of each call whose answer the capture lacks. @type {Map<unknown, number>} */
  const lacking = new Map();
  const observed = observe(page, lacking);
  /** @type {{ number: number, at: number, place: string | null }[]} */
  const steps = expected.steps;
  let done = 0;
  let pending = 0;

  /** @param {import('@playwright/test').Route} route */
  const serve = async (route) => {
    const request = route.request();
    if (!API_TYPES.has(request.resourceType())) return route.fallback();
    /** @type {[string, URL, string | null]} */
    const call = [request.method(), new URL(request.url()), request.postData()];
    const entry = chooseAnswer(recorded, ...call);
    if (!entry) {
      const known = chooseAnswer(unanswered, ...call);
      if (known) lacking.set(request, known.status);
      const isForeign = new URL(request.url()).hostname !== new URL(base).hostname;
      return isForeign || unknown === 'fail' ? route.abort('blockedbyclient') : route.fallback();
    }
    entry.taken = true;
    pending += 1;
    const isAhead = ({ at = 0 }) => at > entry.starts && at < entry.ends;
    const last = Math.max(0, ...steps.filter(isAhead).map(({ number }) => number));
    await sleep(((entry.ends - entry.starts) * SLOWEST_MS) / slowest);
    await waitUntil(() => done >= last, ACTION_MS);
    try {
      await (entry.error ? route.abort('failed') : route.fulfill(buildAnswer(entry, request)));
    } finally {
      entry.answered = true;
      pending -= 1;
    }
  };
  await page.context().route(/^https?:/, (route) => serve(route).catch(() => {})); // the page may be closed by now
  page.setDefaultTimeout(ACTION_MS);
  page.setDefaultNavigationTimeout(2 * ACTION_MS);

  /** Wait for the answers that came before a moment of the recording. @param {number} at */
  const waitForAnswers = async (at) => {
    const due = recorded.filter(({ ends, taken, answered }) => ends <= at && !(taken && answered));
    let activeAt = Date.now();
    await waitUntil(() => {
      if (pending) activeAt = Date.now();
      return due.every(({ answered }) => answered) || Date.now() - activeAt > UNSENT_MS;
    }, ACTION_MS);
    // what this page doesn't ask for isn't waited for again, and a later call gets the answer that comes after it
    for (const each of due) each.taken = each.answered = true;
  };

  /** @param {boolean} reached @param {number | null} stoppedAt */
  const saveObservation = async (reached, stoppedAt) => {
    const file = process.env.REPRODUCTION_RESULT;
    if (!file) return;
    const picture = `${file.replace(/\.json$/, '')}.png`;
    const screenshot = await page.screenshot({ path: picture }).then(
      () => picture,
      () => null,
    );
    writeFileSync(file, JSON.stringify({ reached, stopped_at: stoppedAt, ...observed, screenshot }, null, 2));
  };

  return {
    /** Open a path of the application. @param {string} path */
    async open(path) {
      const address = new URL(path, base);
      const response = await page.goto(address.href);
      if (!response || response.ok() || wasRecorded(entries, address, response.status())) return;
      throw new Error(`${address} returned ${response.status()}.`);
    },
    /** Wait for a path that the page opens itself. It may have other ids. @param {string} path */
    async arrive(path) {
      const isThere = () => comparePaths(new URL(path, base).pathname, new URL(page.url()).pathname) !== null;
      await waitUntil(isThere, ACTION_MS / 5);
    },
    /**
     * Do a step of the capture, with an element if it has one.
     * @param {number} number @param {[any, (it: any) => Promise<unknown>] | [() => Promise<unknown>]} parts
     */
    async step(number, ...parts) {
      const { at = 0, place = null } = steps.find((each) => each.number === number) ?? {};
      try {
        await waitForAnswers(at);
        if (parts.length === 1) await parts[0]();
        else await parts[1](await chooseElement(page, parts[0], place));
        done = number;
      } catch (error) {
        done = Infinity;
        await saveObservation(false, number);
        throw new Error(`Step ${number} isn't possible: ${error instanceof Error ? error.message : error}`);
      }
    },
    /** Wait for what the capture saw, and fail if it happens again. */
    async finish() {
      done = Infinity;
      await waitForAnswers(Infinity);
      await waitUntil(() => findCaptured(expected, observed) !== null, expected.wait_ms);
      await saveObservation(true, null);
      const captured = findCaptured(expected, observed);
      if (captured) throw new Error(`Reproduced: ${captured}`);
      if (observed.diverged)
        throw new Error(
          'The capture lacks answers that the API at BASE_URL gives differently, so this says nothing.',
        );
      const [other] = observed.errors;
      if (other) throw new Error(`What was captured is gone, but there is another error: ${describe(other)}`);
    },
  };
}

/** Whether a page's own answer had this status in the recording. @param {any[]} entries @param {URL} url @param {number} status */
function wasRecorded(entries, { pathname }, status) {
  return entries.some(
    ({ request, response }) =>
      response.status === status && URL.canParse(request.url) && new URL(request.url).pathname === pathname,
  );
}

/**
 * The element of a step: by the name that was recorded; where answers have stand-ins, names that come from them differ,
 * and its place in the document finds it.
 * @param {import('@playwright/test').Page} page @param {any} named @param {string | null} place
 */
async function chooseElement(page, named, place) {
  if (place === null) return named;
  for (const end = Date.now() + NAMED_MS; Date.now() < end; await sleep(20))
    if (await named.count()) return named;
  const placed = page.locator(place);
  return (await placed.count()) === 1 ? placed : named;
}

/**
 * Collect what fails in a page.
 * @param {import('@playwright/test').Page} page
 * @param {Map<unknown, number>} lacking The recorded status of calls that BASE_URL answers. Another status says that
 *   the application isn't in the captured state.
 */
function observe(page, lacking) {
  const observed = {
    errors: /** @type {PageError[]} */ ([]),
    failed_requests: /** @type {FailedRequest[]} */ ([]),
    console_errors: /** @type {string[]} */ ([]),
    diverged: false,
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
    observed.failed_requests.push({ method: request.method(), url: request.url(), status: null, error });
  });
  return observed;
}

/**
 * Find what was captured: an error; without errors in the capture a console error, without those a failed request.
 * @param {any} expected @param {ReturnType<typeof observe>} observed @returns {string | null}
 */
function findCaptured(expected, observed) {
  if (expected.errors.length) {
    const known = new Set(expected.errors.map(describe).map(normalize));
    const found = observed.errors.find((error) => known.has(normalize(describe(error))));
    return found ? describe(found) : null;
  }
  if (expected.console_errors.length) {
    const known = new Set(expected.console_errors.map(normalize));
    return observed.console_errors.find((text) => known.has(normalize(text))) ?? null;
  }
  const found = observed.failed_requests.find(({ method, url, status }) =>
    expected.failed_requests.some(
      (/** @type {FailedRequest} */ each) =>
        each.method === method &&
        each.status === status &&
        comparePaths(new URL(each.url).pathname, new URL(url).pathname) !== null,
    ),
  );
  return found ? `${found.method} ${found.url}: ${found.status ?? found.error}` : null;
}

/** @param {{ name: string, message: string }} error */
function describe({ name, message }) {
  const text = message.replace(/^Uncaught (?:\(in promise\) )?/, '');
  return !name || text.startsWith(name) ? text : `${name}: ${text}`;
}

/** A message without what differs each time. @param {string} text */
function normalize(text) {
  const [line = ''] = text.trim().split('\n');
  return line
    .replace(/\b[a-z][\w+.-]*:\/\/[^\s'"<>)\]]+/gi, '@')
    .replace(CHANGING, '#')
    .replace(/\s+/g, ' ')
    .trim();
}

/** @param {() => boolean} condition @param {number} limit In milliseconds. */
async function waitUntil(condition, limit) {
  const end = Date.now() + limit;
  while (!condition() && Date.now() < end) await sleep(20);
}

/** @param {number} milliseconds */
function sleep(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
