// @ts-check
/** Why a run says nothing about the bug: what led to the failure in the capture never happened in the run. */
import { MISTAKES, comparePaths, decode } from './answers.js';

/**
 * @typedef {import('./answers.js').Recorded} Recorded
 * @typedef {{ method: string, url: URL, known: boolean, isLate: boolean }} Sent A call of the run: whether the capture has
 *   it, and whether it came after the last step.
 */

/** The lines of Playwright's log that say what it waited for. */
const LOGGED = /^(?:waiting for (?!element to be)|element is |<.*> intercepts|locator resolved to)/;
const [MOST_LOGGED, MAX_REASON] = [4, 400];

/** What an application answers that doesn't have the page, or no server behind it. */
const UNSERVED = (/** @type {number} */ status) => status === 404 || status === 405 || status >= 500;

/**
 * Find a call that led to the bug, and that the run never made. A fix may send another query, body or id than the
 * capture, and in place of the call that failed anything else to its path. It need not cancel what the page cancelled.
 * @param {Recorded[]} calls @param {any} expected @param {Sent[]} sent
 */
export function findMissed(calls, expected, sent) {
  const site = URL.canParse(expected.page) ? nameSite(new URL(expected.page)) : '';
  const isBug = (/** @type {Recorded} */ { method, url, status, failure }) =>
    expected.failed_requests.some(
      (/** @type {import('./failures.js').FailedRequest} */ each) =>
        each.method === method &&
        (each.status ?? 0) === status &&
        (status === 0 || status >= 400 || each.error === failure) &&
        URL.canParse(each.url) &&
        new URL(each.url).href === url.href,
    );
  const isSame = (/** @type {Recorded} */ one, /** @type {Recorded} */ other) =>
    one.method === other.method &&
    one.url.href === other.url.href &&
    JSON.stringify(one.body) === JSON.stringify(other.body);
  const isMade = (/** @type {Recorded} */ call) =>
    calls.some((each) => each.asked && isSame(each, call)) ||
    sent.some(
      ({ method, url, known, isLate }) =>
        isSimilar(call.url.pathname, url.pathname) &&
        (isBug(call) ? isLate : !known && method === call.method),
    );
  return calls.find(
    (call) =>
      isBetween(call.starts, expected) &&
      (isBug(call) || (!call.error && nameSite(call.url) === site)) &&
      !isMade(call),
  );
}

/**
 * Find an event stream or a socket that brought messages after the last step, which the run didn't get.
 * @param {any[]} entries Of network.har. @param {any} expected @param {boolean} isLive Whether the run got any of a server.
 * @param {import('./sockets.js').Stream[]} streams
 */
export function findUnserved(entries, expected, isLive, streams) {
  if (isLive) return undefined;
  return entries.find(
    ({ _webSocketMessages: messages = [], request: { url } }) =>
      !streams.some(({ path, isServed }) => isServed && path === new URL(url).pathname) &&
      messages.some(
        (/** @type {{ type: string, time: number }} */ { type, time }) =>
          type === 'receive' && isBetween(time * 1_000, expected),
      ),
  );
}

/**
 * Whether a recorded failure is the answer to a request with a body, although the capture lacks what was sent when it
 * failed: a request that is right by now gets it, too.
 * @param {Recorded} entry @param {string | null} body
 */
export function isUncertain({ body: recorded, status, error }, body) {
  return (error || status >= 400) && recorded === undefined && body !== null;
}

/**
 * What the application has in place of a page that it doesn't have, or that needs a server which doesn't run.
 * @param {import('@playwright/test').Response} response @param {number[]} recorded The statuses of the page.
 */
export function explainDocument(response, recorded) {
  const [request, status] = [response.request(), response.status()];
  if (!request.isNavigationRequest() || !UNSERVED(status) || recorded.includes(status)) return null;
  return `the application answered ${request.method()} ${new URL(response.url()).pathname} with ${status}`;
}

/**
 * Follow the pages that the server sends. Returns a function that says whether the page is what the server answered to the
 * form, or the address, whose failure is the bug; a fix often leads to another place.
 * @param {import('@playwright/test').Page} page @param {(method: string, url: string) => boolean} isFailing
 */
export function followDocuments(page, isFailing) {
  let answered = '';
  page.on('response', (/** @type {import('@playwright/test').Response} */ response) => {
    const request = response.request();
    if (!request.isNavigationRequest() || response.frame() !== page.mainFrame()) return;
    let first = request;
    for (let each = request.redirectedFrom(); each; each = each.redirectedFrom()) first = each;
    if (isFailing(first.method(), first.url())) answered = response.ok() ? response.url() : '';
  });
  return () => answered !== '' && new URL(answered).href === page.url().replace(/#.*/, '');
}

/**
 * What an error says in a line. Of a step that wasn't possible, Playwright's log says which element it waited for, and what
 * the page showed in its place.
 * @param {unknown} error
 */
export function explain(error) {
  const [first = '', ...log] = (error instanceof Error ? error.message : String(error))
    .replace(/\u001b\[[0-9;]*m/g, '')
    .split('\n');
  if (!/Timeout \d+ms exceeded/.test(first)) return first;
  const lines = log
    .map((line) => line.replace(/^[\s\-–]*(?:\d+ × )?/, ''))
    .filter((line) => LOGGED.test(line));
  return [first, ...new Set(lines)].slice(0, MOST_LOGGED).join('; ').slice(0, MAX_REASON);
}

/** @param {number} time @param {any} expected */
function isBetween(time, { acted_at: actedAt, failed_at: failedAt }) {
  return time >= (actedAt ?? 0) && time <= (failedAt ?? 0);
}

/** The last two parts of a host, which an application and its API share. @param {URL} url */
function nameSite({ hostname }) {
  return hostname.split('.').slice(-2).join('.');
}

/** Whether paths are equal apart from ids, and what scripts send by mistake. @param {string} path @param {string} other */
function isSimilar(path, other) {
  const [parts, others] = [path, other].map((each) => each.replace(/\/$/, '').split('/').map(decode));
  return Boolean(
    parts &&
    parts.length === others?.length &&
    parts.every((part, index) => {
      const sent = others[index] ?? '';
      return comparePaths(part, sent) !== null || MISTAKES.test(part) || MISTAKES.test(sent);
    }),
  );
}
