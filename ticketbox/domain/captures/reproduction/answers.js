// @ts-check
/**
 * The recorded answers of a capture, and which of them a request gets: the origin doesn't matter, `[redacted]` and ids
 * match anything of their kind, and repeated requests get their answers in the recorded order.
 */

/**
 * @typedef {{
 *   starts: number, ends: number, method: string, url: URL, body: unknown, status: number,
 *   headers: Record<string, string>, location: string, text: string, error: boolean, failure: string | null,
 *   exact: boolean, cancelled: boolean, taken: boolean, answered: boolean, served: boolean, asked: boolean,
 * }} Recorded
 */

const REDACTED = '[redacted]';
/** The requests that are answered from the recording; the application's own files come from its server. */
export const API_TYPES = new Set(['fetch', 'xhr']);
const ID =
  /^(?:\d+|[0-9a-f]{7,}|[0-9a-f-]{36}|[a-z]{1,5}[-_][0-9a-z]*\d[0-9a-z]*|(?=\D*\d)[\w-]{16,}|(?:[a-z]{1,12}[-_])?\d{4}-w?\d{1,2}(?:-\d{1,2})?)$/i;
/** What scripts send by mistake in place of a value. */
export const MISTAKES = /^(?:undefined|null|NaN|Invalid Date|\[object \w+\])$/;
export const READING = /^(?:GET|HEAD|OPTIONS)$/;
/** The headers that scripts read, without those that a browser obeys, which could lead it out of the recording. */
const SERVED =
  /^(?:content-(?:type|language|range)|date|etag|last-modified|retry-after|ratelimit.*|x-(?!frame-|content-type-options|dns-|xss-|permitted-|sourcemap).*)$/;
/** How the recorder describes a failure that is in an answer with status 200. */
export const GRAPHQL_ERRORS = 'GraphQL errors';
/** Links between pages of a list; a browser obeys others. */
const PAGING = /;\s*rel="?(?:next|prev|previous|first|last|self)"?\s*$/i;
const MOST_REDIRECTS = 20;

/**
 * The recorded calls that have an answer, and those whose answer the capture lacks.
 * @param {any[]} entries @returns {{ answered: Recorded[], unanswered: Recorded[] }}
 */
export function listCalls(entries) {
  const calls = entries.filter(
    ({ _resourceType: type, request }) => API_TYPES.has(type) && URL.canParse(request.url),
  );
  const answered = parseCalls(calls.filter(hasAnswer));
  const known = listTexts(answered);
  const isKnown = (/** @type {string} */ part) => ID.test(part) && known.has(part);
  for (const each of answered)
    each.exact = each.status >= 400 && each.url.pathname.split('/').map(decode).some(isKnown);
  return {
    answered,
    unanswered: parseCalls(calls.filter((each) => !hasAnswer(each))),
  };
}

/** The statuses that were recorded for a path. @param {any[]} entries @param {string} pathname @returns {number[]} */
export function listStatuses(entries, pathname) {
  return entries
    .filter(({ request: { url } }) => URL.canParse(url) && new URL(url).pathname === pathname)
    .map(({ response }) => response.status);
}

/** All values in answers, as texts. @param {Recorded[]} calls */
export function listTexts(calls) {
  /** @type {Set<string>} */
  const values = new Set();
  const collect = (/** @type {unknown} */ value) => {
    if (typeof value === 'object' && value !== null) Object.values(value).forEach(collect);
    else values.add(String(value));
  };
  for (const { status, text } of calls) if (status < 400) collect(parseBody(text));
  return values;
}

/** Whether a status says that the answer is elsewhere, or kept by the browser: scripts never see it. @param {number} status */
export const isMoved = (status) => status >= 300 && status < 400;

/** Whether a call has a body, a status that needs none, or a failure. @param {any} entry */
function hasAnswer({ response: { status, content, redirectURL }, _error: error }) {
  if (status === 0) return Boolean(error);
  if (isMoved(status)) return Boolean(redirectURL) || content.text !== undefined;
  if (status >= 400) return true;
  if (content._omittedReason === 'limit') return false;
  return content.text !== undefined || content.size === 0 || status === 204;
}

/** @param {string} name @param {string} value */
function isServed(name, value) {
  const isPaging = name === 'link' && value.split(',').every((link) => PAGING.test(link));
  return (isPaging || SERVED.test(name)) && value !== REDACTED;
}

/** @param {any[]} entries @returns {Recorded[]} */
function parseCalls(entries) {
  return entries.map(({ startedDateTime, time, request, response, _error: error }) => ({
    starts: Date.parse(startedDateTime),
    ends: Date.parse(startedDateTime) + time,
    method: request.method,
    url: new URL(request.url),
    body: request._omittedReason ? undefined : parseBody(request.postData?.text),
    status: response.status,
    headers: {
      ...Object.fromEntries(
        response.headers
          .map(({ name = '', value = '' }) => [name.toLowerCase(), value])
          .filter(([name = '', value = '']) => isServed(name, value)),
      ),
      ...(response.content.mimeType && {
        'content-type': response.content.mimeType,
      }),
    },
    location: response.redirectURL ?? '',
    text: response.content.text ?? '',
    error: response.status === 0 || (Boolean(error) && !error.startsWith(GRAPHQL_ERRORS)),
    failure: error ?? null,
    exact: false,
    cancelled: response.status === 0 && /abort/i.test(error ?? ''),
    taken: false,
    answered: false,
    served: false,
    asked: false,
  }));
}

/**
 * Choose the recorded answer of a request: of the most similar calls the next one, at the end the last one again. A
 * failure of something that other answers name is the answer for exactly that. A call that the page cancelled has none,
 * so it is chosen only if the others aren't similar.
 * @param {Recorded[]} recorded @param {string} method @param {URL} url @param {string | null} body
 */
export function chooseAnswer(recorded, method, url, body) {
  const sent = parseBody(body ?? undefined);
  let best = -1;
  /** @type {Recorded[]} */
  let similar = [];
  for (const each of recorded) {
    if (each.body !== undefined && !isSameOperation(each.body, sent)) continue;
    const scores = [
      each.method === method ? 0 : null,
      comparePaths(each.url.pathname, url.pathname),
      compareValues(listParameters(each.url.search), listParameters(url.search)),
      each.body === undefined ? 0 : compareValues(each.body, sent),
    ];
    if (scores.includes(null) || (each.exact && decode(each.url.pathname) !== decode(url.pathname))) continue;
    const score = scores.reduce((/** @type {number} */ sum, part) => sum + (part ?? 0), 0);
    if (score > best) [best, similar] = [score, []];
    if (score === best) similar.push(each);
  }
  const current = similar.filter((each) => !isOutdated(each, recorded));
  const newest = current.length ? current : similar;
  const kept = newest.filter(({ cancelled }) => !cancelled);
  const usable = kept.length ? kept : newest;
  return usable.find(({ taken }) => !taken) ?? usable.at(-1);
}

/**
 * Follow a recorded redirect to its recorded answer, as a browser follows it (Fetch, 4.4). Returns all calls that it
 * needs, the one with the answer last. Throws if it isn't recorded.
 * @param {Recorded[]} recorded @param {Recorded} entry @param {string | null} body
 */
export function followRedirects(recorded, entry, body) {
  const chain = [entry];
  let { method } = entry;
  let sent = body;
  for (let last = entry; isMoved(last.status) && last.location; chain.push(last)) {
    const followed = followMethod(last.status, method);
    if (followed !== method) [method, sent] = [followed, null];
    last.taken = true;
    const url = URL.canParse(last.location, last.url.href) ? new URL(last.location, last.url) : null;
    const next =
      url && chain.length <= MOST_REDIRECTS ? chooseAnswer(recorded, method, url, sent) : undefined;
    if (!next)
      throw new Error(`${entry.method} ${entry.url.pathname} was redirected to what isn't in the capture`);
    last = next;
  }
  return chain;
}

/** The method with which a browser follows a redirect. @param {number} status @param {string} method */
export function followMethod(status, method) {
  const isGet = status === 303 ? method !== 'HEAD' : status <= 302 && method === 'POST';
  return isGet ? 'GET' : method;
}

/**
 * Whether an answer is older than a change that the application already knows of: it was recorded while something in the
 * same place of the API was being changed, and now that change has been answered.
 * @param {Recorded} entry @param {Recorded[]} recorded
 */
export function isOutdated({ method, url, starts }, recorded) {
  if (!READING.test(method)) return false;
  return recorded.some(
    (each) =>
      each.served &&
      !READING.test(each.method) &&
      each.status < 400 &&
      each.starts < starts &&
      starts < each.ends &&
      isRelated(each.url, url),
  );
}

/** Whether one of two addresses is in the other one's place of the API. @param {URL} one @param {URL} other */
export function isRelated(one, other) {
  const [path, otherPath] = [`${one.pathname}/`, `${other.pathname}/`];
  return path.startsWith(otherPath) || otherPath.startsWith(path);
}

/** How many parts of two paths are equal; null if one differs that is no id. @param {string} path @param {string} other */
export function comparePaths(path, other) {
  const [parts, others] = [path, other].map((each) => each.replace(/\/$/, '').split('/').map(decode));
  if (!parts || !others || parts.length !== others.length) return null;
  let score = 0;
  for (const [index, part] of parts.entries()) {
    const sent = others[index] ?? '';
    if (part === sent) score += 1;
    else if (!part.includes(REDACTED) && !(ID.test(part) && ID.test(sent))) return null;
  }
  return score;
}

/**
 * How many values are equal; null if the structure differs. Values themselves may differ: a capture has stand-ins for
 * secrets, and the steps enter stand-ins.
 * @param {any} recorded @param {any} sent @returns {number | null}
 */
function compareValues(recorded, sent) {
  if (recorded === sent) return 1;
  if (typeof recorded === 'string' && recorded.includes(REDACTED)) return 0;
  if (typeof recorded !== typeof sent || recorded === null || sent === null) return null;
  if (typeof recorded === 'number') return Math.sign(recorded) === Math.sign(sent) ? 0 : null;
  if (typeof recorded === 'string')
    return recorded && sent && MISTAKES.test(recorded) === MISTAKES.test(sent) ? 0 : null;
  if (typeof recorded !== 'object' || Array.isArray(recorded) !== Array.isArray(sent)) return null;
  if (Array.isArray(recorded) ? !recorded.length !== !sent.length : !haveSameKeys(recorded, sent))
    return null;
  let score = 0;
  for (const key of Object.keys(recorded)) {
    const part = Object.hasOwn(sent, key) ? compareValues(recorded[key], sent[key]) : 0;
    if (part === null) return null;
    score += part;
  }
  return score;
}

/** Whether two bodies of GraphQL or JSON-RPC name the same operations. @param {any} recorded @param {any} sent */
function isSameOperation(recorded, sent) {
  const [names, others] = [recorded, sent].map((body) =>
    (Array.isArray(body) ? body : [body]).map(
      (each) => each?.operationName ?? (each?.jsonrpc && each.method) ?? null,
    ),
  );
  return [names, others].every((each) => each?.every((name) => name === null)) || `${names}` === `${others}`;
}

/** @param {object} one @param {object} other */
function haveSameKeys(one, other) {
  return Object.keys(one).sort().join('\0') === Object.keys(other).sort().join('\0');
}

/** The parameters of a query or a form by name, each with its values. @param {string} text */
function listParameters(text) {
  /** @type {Record<string, string[]>} */
  const values = Object.create(null); // a name can be `__proto__`
  for (const [name, value] of new URLSearchParams(text)) (values[name] ??= []).push(value);
  return values;
}

/** A body as its values: JSON, a form, or a text. @param {string | undefined} text */
function parseBody(text) {
  if (!text) return null;
  try {
    return JSON.parse(text);
  } catch {
    return /^[^=&\s]+=[^\s]*$/.test(text) ? listParameters(text) : text;
  }
}

/** @param {string} text */
export function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** @param {Recorded} entry @param {{ headers(): Record<string, string> }} request */
export function buildAnswer({ status, headers, text }, request) {
  const isCopy = status === 304 && text !== ''; // of the browser, which scripts see as what it is a copy of
  if (status < 200 || (isMoved(status) && !isCopy))
    throw new Error(`an answer with status ${status} can't be served`);
  const origin = request.headers().origin ?? '*';
  const shared = {
    'access-control-allow-origin': origin,
    'access-control-allow-credentials': 'true',
  };
  return {
    status: isCopy ? 200 : status,
    body: text,
    headers: { ...headers, ...shared, 'access-control-expose-headers': '*' },
  };
}
