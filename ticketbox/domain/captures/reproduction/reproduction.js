// @ts-check
/**
 * Replays a capture in Playwright: serves the recorded answers from network.har, keeps the recorded order of steps and
 * answers, and observes what fails. The page itself comes from BASE_URL.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { API_TYPES, buildAnswer, chooseAnswer, isOutdated, isUncertain, listCalls } from './answers.js';
import { describe, findCaptured, isFoundByRequests, isSame, isSamePath, listReplaced } from './failures.js';

/** The slowest answer takes this long; the others keep their share of it. */
const SLOWEST_MS = 1_000;
const ACTION_MS = 5_000;
const UNSENT_MS = 500;
/** How long a failure is waited for after the last step, at most. */
const FAILURE_MS = 20_000;
/** How long an element's name is waited for: at first, and once an element wasn't found by its name. */
const [NAMED_MS, STAND_IN_MS] = [1_000, 250];

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
  const replaced = listReplaced(expected, recorded);
  /** @type {{ number: number, at: number, place: string | null, again: number[] }[]} */
  const steps = expected.steps;
  const moments = steps.flatMap(({ number, at, again }) =>
    [at, ...again].map((at, index, { length }) => ({
      at,
      number: number - 1 + (index + 1) / length,
    })),
  );
  let done = 0;
  let pending = 0;
  let namedMs = NAMED_MS;
  /** The step that is being done, and the first one after which the page wasn't where it was recorded. */
  let current = 0;
  /** @type {{ number: number, reason: string } | null} */
  let lost = null;
  /** The path that the last step led to; null after a step with an element, which may lead elsewhere on a fix. */
  let destination = /** @type {string | null} */ (null);
  let isUsed = false;
  /** Also the steps of which the capture doesn't say what to act on, which a person can add. @type {typeof steps} */
  const listed = [...steps, ...expected.unknown];
  /** Those of them that the test doesn't have. */
  const unlocated = new Set(listed.slice(steps.length).map(({ number }) => number));

  const hasFailed = () => findCaptured(expected, observed, replaced) !== null;
  const isAt = (/** @type {string} */ path) =>
    isSamePath(new URL(path, base).pathname, new URL(page.url()).pathname, replaced);

  /** Remember whether the page is where a step leads to. @param {string} path @param {boolean} isThere */
  const notePlace = (path, isThere) => {
    destination = isThere ? new URL(page.url()).pathname : path;
    if (isThere) lost = null;
    else lost ??= { number: current, reason: `the page is ${new URL(page.url()).pathname}, not ${path}` };
  };

  /** Why a run without a failure says nothing about the bug; null if it does. */
  const findObstacle = async () => {
    if (lost) return lost;
    const [skipped] = unlocated;
    if (skipped !== undefined) return { number: skipped, reason: "the capture doesn't say what to act on" };
    const number = steps.at(-1)?.number ?? 0;
    if (destination !== null && !isAt(destination) && !isAt(expected.page))
      return { number, reason: `the page left ${destination} for ${new URL(page.url()).pathname}` };
    const isKnown = isUsed || lacking.size > 0 || recorded.some(({ served }) => served);
    if (!isKnown && !isSame(expected.title, await page.title(), replaced))
      return { number, reason: `the page isn't “${expected.title}”, and calls nothing that was recorded` };
    if (expected.wait_ms > FAILURE_MS)
      return { number, reason: `the failure came later than ${FAILURE_MS / 1_000} s after the last step` };
    return null;
  };

  /**
   * The element of a step: by the name that was recorded; where answers have stand-ins, names that come from them
   * differ, and its place in the document finds it.
   * @param {import('@playwright/test').Locator} named @param {string | null} place
   */
  const chooseElement = async (named, place) => {
    if (place === null) return named;
    for (const end = Date.now() + namedMs; Date.now() < end; await sleep(20))
      if (await named.count()) return named;
    const placed = page.locator(place);
    if ((await placed.count()) !== 1) return named;
    namedMs = STAND_IN_MS;
    return placed;
  };

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
    if (isOutdated(entry, recorded)) observed.outdated = true;
    if (isUncertain(entry, request.postData())) observed.uncertain = true;
    entry.taken = true;
    pending += 1;
    const isAhead = ({ at = 0 }) => at > entry.starts && at < entry.ends;
    const last = Math.max(0, ...moments.filter(isAhead).map(({ number }) => number));
    await sleep(((entry.ends - entry.starts) * SLOWEST_MS) / slowest);
    await waitUntil(() => done >= last, ACTION_MS);
    try {
      await (entry.error ? route.abort('failed') : route.fulfill(buildAnswer(entry, request)));
    } finally {
      entry.answered = entry.served = true;
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
    const recognized = findCaptured(expected, observed, replaced) !== null;
    const result = {
      reached,
      stopped_at: stoppedAt,
      ...observed,
      recognized,
      screenshot,
    };
    writeFileSync(file, JSON.stringify(result, null, 2));
  };

  return {
    /** Open a path of the application. @param {string} path */
    async open(path) {
      const address = new URL(path, base);
      const response = await page.goto(address.href);
      if (response && !response.ok() && !wasRecorded(entries, address, response.status()))
        throw new Error(`${address} returned ${response.status()}.`);
      notePlace(path, isAt(path) || wasRedirected(entries, address));
    },
    /** Wait for a path that the page opens itself. It may have other ids. @param {string} path */
    async arrive(path) {
      await waitUntil(() => isAt(path) || hasFailed(), ACTION_MS);
      notePlace(path, isAt(path));
    },
    /**
     * Do a step of the capture, with an element if it has one, as often as it was done. `part` counts from 0.
     * @param {number} number
     * @param {[any, (it: any, part: number) => Promise<unknown>] | [(part: number) => Promise<unknown>]} parts
     */
    async step(number, ...parts) {
      const { at = 0, place = null, again = [] } = listed.find((each) => each.number === number) ?? {};
      unlocated.delete(number);
      const times = [at, ...again];
      current = number;
      destination = null;
      try {
        for (const [part, time] of times.entries()) {
          await waitForAnswers(time);
          if (parts.length === 1) await parts[0](part);
          else await parts[1](await chooseElement(parts[0], place), part);
          isUsed ||= destination === null;
          done = number - 1 + (part + 1) / times.length;
        }
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
      await waitUntil(hasFailed, Math.min(expected.wait_ms, FAILURE_MS));
      const captured = findCaptured(expected, observed, replaced);
      const obstacle = captured ? null : await findObstacle();
      await saveObservation(obstacle === null, obstacle && obstacle.number);
      if (obstacle)
        throw new Error(`Step ${obstacle.number} wasn't reached: ${obstacle.reason}, so this says nothing.`);
      if (observed.outdated && (captured || observed.errors.length))
        throw new Error(
          'The page changed something, then read it, and the capture has only an older answer, so this says nothing.',
        );
      if (captured && observed.uncertain && isFoundByRequests(expected))
        throw new Error(
          'The capture lacks what was sent with the request that failed. The page may have sent something else, so this says nothing.',
        );
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

/** Whether a page's own address was redirected in the recording. @param {any[]} entries @param {URL} url */
function wasRedirected(entries, { pathname }) {
  return entries.some(
    ({ request, response: { status } }) =>
      status >= 300 &&
      status < 400 &&
      URL.canParse(request.url) &&
      new URL(request.url).pathname === pathname,
  );
}

/**
 * Collect what fails in a page.
 * @param {import('@playwright/test').Page} page
 * @param {Map<unknown, number>} lacking The recorded status of calls that BASE_URL answers. Another status says that
 *   the application isn't in the captured state.
 */
function observe(page, lacking) {
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

/** @param {() => boolean} condition @param {number} limit In milliseconds. */
async function waitUntil(condition, limit) {
  const end = Date.now() + limit;
  while (!condition() && Date.now() < end) await sleep(20);
}

/** @param {number} milliseconds */
function sleep(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
