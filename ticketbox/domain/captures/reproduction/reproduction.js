// @ts-check
/**
 * Replays a capture in Playwright: serves the recorded answers from network.har, keeps the recorded order of steps and
 * answers, and observes what fails. The page itself comes from BASE_URL, and nothing else is reached.
 */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  API_TYPES,
  buildAnswer,
  chooseAnswer,
  followRedirects,
  isMoved,
  isOutdated,
  listCalls,
  listStatuses,
} from './answers.js';
import { answerDialogs, attach, choose, drag, scrollPage, watchSubmits } from './acts.js';
import { buildAddress, confine } from './boundary.js';
import { createChecks } from './checks.js';
import { startClock } from './clock.js';
import { createChooser } from './elements.js';
import { createMatcher, isSamePath, listReplaced, readRoute } from './failures.js';
import { observe, saveResult } from './observations.js';
import {
  explain,
  explainDocument,
  findMissed,
  findUnserved,
  followDocuments,
  isUncertain,
} from './reasons.js';
import { followServer } from './server.js';
import { listStreams, serveStreams } from './sockets.js';
import { addLacking, listLacking, runSetup, seedLater, seedStorage } from './storage.js';
import { judge, judgeCheck } from './verdict.js';

/** @typedef {import('./verdict.js').Obstacle} Obstacle */

/** The slowest answer takes this long; the others keep their share of it. */
const SLOWEST_MS = 1_000;
const ACTION_MS = 5_000;
const UNSENT_MS = 500;
const SERVER_MS = 30_000;
/** How long a failure is waited for after the last step, at most. */
const FAILURE_MS = 20_000;

/**
 * Start replaying a capture in a page.
 * @param {import('@playwright/test').Page} page
 * @param {{ file: string }} testInfo The test's file; the capture's files are in the same folder.
 * @param {{ unknown?: 'pass' | 'fail', offline?: boolean, live?: boolean }} [options] What happens to calls that weren't
 *   recorded, whether other sites may add scripts, styles, fonts and images to the page, and whether the server at
 *   BASE_URL answers all calls. Everything else that leaves the origin of BASE_URL always fails.
 */
export async function replayCapture(page, testInfo, options = {}) {
  const prepared = await runSetup(page, process.env.BASE_URL ?? '');
  try {
    return await startReplay(page, testInfo, options, prepared);
  } catch (error) {
    await saveResult(null, { verdict: 'not_reached', stopped_at: null, reason: explain(error) });
    throw error;
  }
}

/**
 * @param {import('@playwright/test').Page} page @param {{ file: string }} testInfo
 * @param {{ unknown?: 'pass' | 'fail', offline?: boolean, live?: boolean }} options
 * @param {Record<string, string>} prepared What the setup left in session storage.
 */
async function startReplay(
  page,
  testInfo,
  {
    unknown = 'pass',
    offline = Boolean(process.env.REPRODUCTION_OFFLINE),
    live = Boolean(process.env.REPRODUCTION_LIVE),
  },
  prepared,
) {
  const base = process.env.BASE_URL ?? '';
  if (!/^https?:\/\//i.test(base))
    throw new Error('Set BASE_URL to the address of the application, such as http://localhost:3000.');
  const read = (/** @type {string} */ name) =>
    JSON.parse(readFileSync(join(dirname(testInfo.file), name), 'utf8'));
  const expected = read('expected.json');
  const entries = read('network.har').log.entries;
  const { answered: recorded, unanswered } = listCalls(entries);
  const slowest = Math.max(SLOWEST_MS, ...recorded.map(({ starts, ends }) => ends - starts));
  /** The recorded status of each call whose answer the capture lacks. @type {Map<unknown, number>} */
  const lacking = new Map();
  const { observed, readAll } = await observe(page, join(dirname(testInfo.file), 'recorder.js'), lacking);
  await startClock(page, expected.began ?? null);
  await seedStorage(page, new URL(base).origin, expected.storage, prepared);
  /** @type {import('./storage.js').Lacking | null} */
  let lacks = null;
  const replaced = listReplaced(expected, recorded);
  const matcher = createMatcher(expected, read('messages.json'), replaced);
  const { isSame, findBug, findOther, findRefused } = matcher;
  const isRepaired = followDocuments(page, matcher.isFailing);
  /** @type {{ number: number, at: number, place: string | null, again: number[] }[]} */
  const steps = expected.steps;
  const moments = steps.flatMap(({ number, at, again }) =>
    [at, ...again].map((at, index, { length }) => ({
      at,
      number: number - 1 + (index + 1) / length,
    })),
  );
  /** @type {import('./checks.js').Expectation[]} */
  const expectations = expected.expectations;
  /** @type {Promise<void> | undefined} */
  let settling;
  let done = 0;
  let pending = 0;
  /** The step that is being done, and the first one after which the page wasn't where it was recorded. */
  let current = 0;
  /** @type {Obstacle | null} */
  let lost = null;
  /** The path that the last step led to; null after a step with an element, which may lead elsewhere on a fix. */
  let destination = /** @type {string | null} */ (null);
  let isUsed = false;
  /** @type {import('./reasons.js').Sent[]} */
  const sent = [];
  const streams = live ? [] : listStreams(entries);
  /** Whether messages came from a socket or an event stream of the application. */
  let isLive = false;
  /** Also the steps of which the capture doesn't say what to act on, which a person can add. @type {typeof steps} */
  const listed = [...steps, ...expected.unknown];
  /** Those of them that the test doesn't have. */
  const unlocated = new Set(listed.slice(steps.length).map(({ number }) => number));

  /** The last step that isn't only waiting for a page. */
  const last = Math.max(
    0,
    ...steps.filter(({ at }) => at <= (expected.acted_at ?? 0)).map(({ number }) => number),
  );
  const hasFailed = () => findBug(observed) !== null;
  const { origin } = new URL(base);
  const isInside = () => new URL(page.url()).origin === origin;
  const isAt = (/** @type {string} */ path) =>
    isInside() &&
    isSamePath(path, path.includes('#') ? readRoute(page.url()) : new URL(page.url()).pathname, replaced);

  /** Remember whether the page is where a step leads to. @param {string} path @param {boolean} isThere */
  const notePlace = (path, isThere) => {
    destination = isThere ? readRoute(page.url()) : path;
    if (isThere) lost = null;
    else lost ??= { number: current, reason: `the page is ${readRoute(page.url())}, not ${path}` };
  };

  /** The error of the harness itself, after which nothing is known. @type {Obstacle | null} */
  let broken = null;
  const noteError = (/** @type {unknown} */ error) => {
    broken ??= { number: current, reason: explain(error) };
  };
  const server = followServer(expected, base, live, noteError);
  // also what a service worker of the page answers, which isn't served here
  page.context().on('request', (request) => {
    if (!API_TYPES.has(request.resourceType())) return;
    const [method, url, body] = [request.method(), new URL(request.url()), request.postData()];
    const known = chooseAnswer(recorded, method, url, body) ?? chooseAnswer(unanswered, method, url, body);
    if (known) known.asked = true;
    sent.push({ method, url, known: Boolean(known), isLate: current >= last });
  });
  page.on('crash', () => noteError('the page crashed'));
  page.on('websocket', (socket) => socket.on('framereceived', () => (isLive = true)));
  page.on('response', (response) => {
    if (response.ok() && response.request().resourceType() === 'eventsource') isLive = streams.length === 0;
    const reason = explainDocument(response, listStatuses(entries, new URL(response.url()).pathname));
    if (reason && response.frame() === page.mainFrame()) lost ??= { number: current, reason };
  });

  /** Why a run without a failure says nothing about the bug; null if it does. */
  const findObstacle = async () => {
    if (page.isClosed()) return { number: current, reason: 'the page was closed' };
    if (lost) return lost;
    if (!isInside()) return { number: current, reason: `the page left ${origin}` };
    if (isRepaired() && (await isSignIn(page)))
      return { number: current, reason: `the page is ${readRoute(page.url())}, which asks for a password` };
    const [skipped] = unlocated;
    if (skipped !== undefined) return { number: skipped, reason: "the capture doesn't say what to act on" };
    const number = steps.at(-1)?.number ?? 0;
    if (destination !== null && !isAt(destination) && !isAt(readRoute(expected.page)))
      return { number, reason: `the page left ${destination} for ${readRoute(page.url())}` };
    const isKnown = isUsed || lacking.size > 0 || recorded.some(({ served }) => served);
    if (!isKnown && !isSame(expected.title, await page.title()))
      return { number, reason: `the page isn't “${expected.title}”, and calls nothing that was recorded` };
    if (expected.wait_ms > FAILURE_MS)
      return { number, reason: `the failure came later than ${FAILURE_MS / 1_000} s after the last step` };
    const missed = findMissed([...recorded, ...unanswered], expected, sent);
    if (missed)
      return {
        number,
        reason: `the page never asked for ${missed.method} ${missed.url.pathname}${missed.url.search}`,
      };
    const refused = findRefused(observed);
    if (refused)
      return { number, reason: `the failure is a request to ${refused}, which a run doesn't reach` };
    if (dialogs.isAnyUnasked()) return { number, reason: 'the dialog that was answered never opened' };
    if (expected.submits && !takeSubmit()) return { number, reason: 'the form was never submitted' };
    const unserved = findUnserved(entries, expected, isLive, streams);
    if (unserved)
      return {
        number,
        reason: `messages of ${readRoute(unserved.request.url)} led to the failure, and none came`,
      };
    return null;
  };

  const chooseElement = createChooser(page);
  const dialogs = answerDialogs(page);
  const takeSubmit = expected.submits ? await watchSubmits(page) : () => false;

  /** @param {import('@playwright/test').Route} route */
  const serve = async (route) => {
    const request = route.request();
    if (!API_TYPES.has(request.resourceType())) return route.fallback();
    /** @type {[string, URL, string | null]} */
    const call = [request.method(), new URL(request.url()), request.postData()];
    const entry = chooseAnswer(recorded, ...call) ?? server.findFault(recorded, call[0], call[1]);
    if (!entry) {
      const known = chooseAnswer(unanswered, ...call);
      if (known && !live) lacking.set(request, known.status);
      return unknown === 'fail' ? route.abort('blockedbyclient') : route.fallback();
    }
    const chain = followRedirects(recorded, entry, request.postData());
    const answer = chain.at(-1) ?? entry;
    answer.taken = true;
    if (answer.cancelled) {
      for (const each of chain) each.answered = each.asked = true;
      return; // the page cancels it again
    }
    pending += 1;
    const isAhead = ({ at = 0 }) => at > entry.starts && at < answer.ends;
    const due = Math.max(0, ...moments.filter(isAhead).map(({ number }) => number));
    try {
      if (server.answers(chain, call[1]) && (await server.answer(route, chain))) return;
      if (isOutdated(answer, recorded)) observed.outdated = true;
      if (isUncertain(answer, request.postData())) observed.uncertain = true;
      await sleep(((answer.ends - entry.starts) * SLOWEST_MS) / slowest);
      await waitUntil(() => done >= due, ACTION_MS);
      await (answer.error ? route.abort('failed') : route.fulfill(buildAnswer(answer, request)));
    } finally {
      for (const each of chain) each.answered = each.served = each.asked = true;
      pending -= 1;
    }
  };
  await serveStreams(page, streams, waitUntil, (time) => {
    return done >= Math.max(0, ...moments.filter(({ at }) => at < time).map(({ number }) => number));
  });
  await page.context().route(/^https?:/, (route) =>
    serve(route).catch(async (error) => {
      if (page.isClosed() || explain(error).includes('has been closed')) return; // nobody waits for the answer
      noteError(error);
      await route.abort().catch(() => {});
    }),
  );
  await confine(page, base, offline, noteError);
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

  /** Judge the run, and keep the judgement. @param {Obstacle | null} obstacle */
  const conclude = async (obstacle) => {
    const found = { broken, obstacle, bug: findBug(observed), other: findOther(observed), checks };
    const judgement = judge(expected, { ...observed, ...server.seen }, found);
    await saveResult(isInside() && !page.isClosed() ? page : null, judgement, observed);
    const wrong = expectations.map((each, index) => judgeCheck(each, checks[index]));
    const [{ reason = '' } = {}] = wrong.filter(({ verdict }) => verdict === 'reproduced');
    return { ...judgement, bug: found.bug ?? reason };
  };

  /** Wait by the page's own timers, too: on a busy machine they lag behind. @param {number} ms Until the failure. */
  const waitInPage = async (ms) => {
    const end = Date.now() + ms;
    let isOver = false;
    const pass = () => (isOver = true);
    page.evaluate((time) => new Promise((resolve) => setTimeout(resolve, time)), ms).then(pass, pass);
    await waitUntil(() => hasFailed() || (isOver && Date.now() >= end), ms + ACTION_MS);
  };

  /** Wait until the page has what the capture had. @type {() => Promise<void>} */
  const settle = () => {
    done = Infinity;
    return (settling ??= (async () => {
      await waitForAnswers(Infinity);
      await waitUntil(() => server.seen.waiting === 0, SERVER_MS);
      if (server.seen.waiting) noteError(`the server didn't answer within ${SERVER_MS / 1_000} s`);
      await waitInPage(Math.min(expected.wait_ms, FAILURE_MS));
    })());
  };
  const { checks, expect } = createChecks(page, expectations, settle, noteError);

  /** Wait for what the capture saw; return why the run says nothing, if it doesn't happen. */
  const waitForBug = async () => {
    await settle();
    const isAlive = await Promise.race([readAll().then(() => true), sleep(ACTION_MS, false, { ref: false })]);
    if (hasFailed()) return null;
    if (!isAlive) return { number: current, reason: 'the page no longer responds' };
    return addLacking(await findObstacle(), lacks, last);
  };

  return {
    attach,
    answer: dialogs.answer,
    choose,
    drag,
    /** Scroll the page to a place, in CSS pixels. @param {number} x @param {number} y */
    scroll: (x, y) => scrollPage(page, x, y),
    /** Say what the page must be like, as Playwright's `expect`. The end of the test judges. */
    expect,
    /** Open a path of the application. @param {string} path */
    async open(path) {
      dialogs.begin(true);
      const address = buildAddress(path, base);
      if (isInside()) await seedLater(page, expected.storage, current);
      const response = await page.goto(address.href);
      lacks ??= await listLacking(page, expected.storage).catch(() => null);
      const recordedAs = listStatuses(entries, address.pathname);
      if (response && !response.ok() && !recordedAs.includes(response.status()))
        throw new Error(`${address} returned ${response.status()}.`);
      const place = readRoute(address.href);
      notePlace(place, isAt(place) || (isInside() && recordedAs.some(isMoved)));
    },
    /** Wait for a path that the page opens itself. It may have other ids. @param {string} path */
    async arrive(path) {
      const place = readRoute(buildAddress(path, base).href);
      await waitUntil(() => isAt(place) || hasFailed() || isRepaired(), ACTION_MS);
      notePlace(place, isAt(place) || (isInside() && isRepaired()));
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
      dialogs.begin(parts.length === 2);
      if (parts.length === 2) takeSubmit();
      try {
        for (const [part, time] of times.entries()) {
          await waitForAnswers(time);
          if (parts.length === 1) await parts[0](part).catch((error) => awaitOwnReload(page, error));
          else await parts[1](await chooseElement(parts[0], place), part);
          isUsed ||= destination === null;
          done = number - 1 + (part + 1) / times.length;
        }
      } catch (error) {
        done = Infinity;
        // a page that isn't there explains why it has no such element
        const cause = lost && lost.number < number ? lost : { number, reason: explain(error) };
        await conclude(addLacking(cause, lacks, last));
        throw new Error(`Step ${number} isn't possible: ${error instanceof Error ? error.message : error}`);
      }
    },
    /** Wait for what the capture saw, and fail if it happens again. */
    async finish() {
      const obstacle = await waitForBug().catch((error) => (noteError(error), null));
      const { verdict, stopped_at, reason, bug } = await conclude(obstacle);
      if (verdict === 'reproduced') throw new Error(`Reproduced: ${bug}`);
      if (stopped_at !== null)
        throw new Error(`Step ${stopped_at} wasn't reached: ${reason}, so this says nothing.`);
      if (verdict !== 'gone') throw new Error(`This run proves nothing: ${reason}.`);
    },
  };
}

/** Whether the page asks for a password. @param {import('@playwright/test').Page} page */
async function isSignIn(page) {
  await page.waitForLoadState();
  return (await page.locator('input[type=password]').count()) > 0;
}

/** The page that loads itself again ends a reload; other errors are thrown. @param {any} page @param {unknown} error */
async function awaitOwnReload(page, error) {
  if (!/reload: .*(ERR_ABORTED|NS_BINDING_ABORTED)/.test(explain(error))) throw error;
  await page.waitForLoadState();
}

/** @param {() => boolean} condition @param {number} limit In milliseconds. */
async function waitUntil(condition, limit) {
  const end = Date.now() + limit;
  while (!condition() && Date.now() < end) await sleep(20);
}
