// @ts-check
/**
 * Calls that go to the server at BASE_URL: a fault of the server, whose recorded answer would never change, and what
 * depends on it. The rest comes from the recording, unless everything goes to the server.
 */
import { READING, comparePaths, followMethod, isMoved, isRelated } from './answers.js';

/** @typedef {import('./answers.js').Recorded} Recorded */

const MOST_REDIRECTS = 20;
/** What a host answers that has no such API: a file server, or a proxy in front of nothing. */
const ABSENT = new Set([404, 405, 501, 502, 503, 504]);
const PROXY = /ECONNREFUSED|proxy error|trying to proxy|bad gateway/i;
const REFUSED = new Set([401, 403]);
export const NO_SERVER = 'the failure is an answer of the server; start it at the base URL';

/**
 * @param {any} expected @param {string} base @param {boolean} isLive Whether every call goes to the server.
 * @param {(reason: string) => void} report Called with why a run says nothing: no server is there, or it wants a sign-in.
 */
export function followServer(expected, base, isLive, report) {
  const { origin } = new URL(base);
  /**
   * How the server failed, if not as in the capture, whether the recording had to answer for it, and how many of its
   * answers are waited for.
   * @type {{ different: string | null, absent: boolean, waiting: number }}
   */
  const seen = { different: null, absent: false, waiting: 0 };
  /** The calls that the server has answered. @type {{ method: string, url: URL }[]} */
  const asked = [];
  /** @type {(entry: Recorded) => boolean} */
  const isFault = ({ method, url, status, failure }) =>
    expected.faults.some(
      (/** @type {import('./failures.js').FailedRequest} */ each) =>
        each.method === method &&
        each.url === url.href &&
        (each.status ?? 0) === status &&
        (status >= 400 || each.error === failure),
    );

  /** Ask the server, inside its origin. @param {import('@playwright/test').Route} route */
  const ask = async (route) => {
    let url = route.request().url();
    let method = route.request().method();
    for (let count = 0; count <= MOST_REDIRECTS && new URL(url).origin === origin; count += 1) {
      const isChanged = method !== route.request().method();
      const response = await route.fetch({
        url,
        method,
        maxRedirects: 0,
        ...(isChanged && { postData: '' }),
      });
      const { location } = response.headers();
      if (!isMoved(response.status()) || !location) return response;
      url = new URL(location, url).href;
      method = followMethod(response.status(), method);
    }
    return null;
  };

  /** @param {import('@playwright/test').Route} route @param {Recorded[]} chain */
  const answer = async (route, chain) => {
    const request = route.request();
    const [method, url] = [request.method(), new URL(request.url())];
    const name = `${method} ${url.pathname}`;
    const entry = chain.find(isFault);
    const recorded = entry ?? chain.at(-1);
    if (recorded?.headers['content-type']?.startsWith('text/event-stream')) {
      await route.fallback(); // it may never end
      return true;
    }
    const response = await ask(route).catch(() => null);
    const status = response?.status() ?? 0;
    if (!response || !recorded || (await isAbsent(response, recorded))) {
      if (!isLive && !(entry && expected.needs_server)) {
        seen.absent = true;
        return false;
      }
      report(entry ? NO_SERVER : `the server at the base URL has no ${name}`);
      await (response ? route.fulfill({ response }) : route.abort('failed'));
      return true;
    }
    asked.push({ method, url });
    if (status >= 400 && status !== recorded.status) {
      if (REFUSED.has(status))
        report(`the server answered ${name} with ${status}, because the run isn't signed in there`);
      else if (entry) seen.different ??= `the server answered ${name} with ${status}, not ${entry.status}`;
    }
    await route.fulfill({ response });
    return true;
  };

  return {
    seen,
    /**
     * The fault that a call is about which sends something else than in the capture: only the server knows more.
     * @param {Recorded[]} recorded @param {string} method @param {URL} url
     */
    findFault(recorded, method, url) {
      const isSimilar = (/** @type {Recorded} */ each) =>
        isFault(each) && each.method === method && comparePaths(each.url.pathname, url.pathname) !== null;
      return expected.needs_server
        ? recorded.find((each) => each.status >= 400 && isSimilar(each))
        : undefined;
    },
    /** Whether the server answers a call. @param {Recorded[]} chain @param {URL} url */
    answers(chain, url) {
      const isAfter = asked.some((each) => !READING.test(each.method) || isRelated(each.url, url));
      return isLive || isAfter || chain.some(isFault);
    },
    /**
     * Let the server answer. Returns whether it did; if not, the recording has to.
     * @param {import('@playwright/test').Route} route @param {Recorded[]} chain
     */
    async answer(route, chain) {
      seen.waiting += 1;
      return answer(route, chain).finally(() => (seen.waiting -= 1));
    },
  };
}

/**
 * Whether an answer only says that no server is there.
 * @param {import('@playwright/test').APIResponse} response @param {Recorded} recorded
 */
async function isAbsent(response, { status, headers, text }) {
  const answered = response.status();
  const [kind, recordedKind] = [response.headers(), headers].map((each) => nameKind(each['content-type']));
  if (answered >= 500 || ABSENT.has(answered)) {
    const body = await response.text().catch(() => '');
    if (PROXY.test(body) || (answered === status && text && !body)) return true;
    if (answered !== status) return ABSENT.has(answered) && !(answered < 500 && kind === 'json');
  }
  return kind === 'html' && Boolean(recordedKind) && recordedKind !== 'html';
}

/** @param {string | undefined} type A media type. */
function nameKind(type) {
  return /json|html/i.exec(type ?? '')?.[0].toLowerCase() ?? (type ? 'other' : '');
}
