// @ts-check
/** Whether what fails in a page is what was captured. */
import { comparePaths, decode, listTexts } from './answers.js';

/**
 * @typedef {{ name: string, message: string, stack: string }} PageError
 * @typedef {{ method: string, url: string, status: number | null, error: string | null }} FailedRequest
 * @typedef {{ errors: PageError[], failed_requests: FailedRequest[], console_errors: string[] }} Failures
 */

const CHANGING = /\b(?:[0-9a-f]{8}-[0-9a-f-]{27}|0x[0-9a-f]+|(?=[a-f]*\d)[0-9a-f]{7,})\b|\d+(?:[.,]\d+)*/gi;
/** A stand-in of a text, as captures have them in bodies: `Xxxx xxxxxb`. */
const STAND_IN = /^(?=.*[xX]{2})[^a-wyzA-WYZ]*[a-zA-Z]{0,3}$/;
/** The error of requests that the run itself refuses, which say nothing about the application. */
const REFUSED = 'net::ERR_BLOCKED_BY_CLIENT';
const [SHORTEST, SHORTEST_UNQUOTED, MOST_REPLACED] = [8, 4, 500];

/**
 * The texts of a run that replace those of the capture: samples that the steps type, and stand-ins in answers.
 * @param {any} expected @param {import('./answers.js').Recorded[]} recorded @returns {string[]}
 */
export function listReplaced(expected, recorded) {
  const typed = expected.steps.flatMap((/** @type {{ typed: string[] }} */ step) => step.typed);
  const standIns = [...listTexts(recorded)].filter((text) => STAND_IN.test(text)).slice(0, MOST_REPLACED);
  return [...new Set([...typed, ...standIns])].sort((one, other) => other.length - one.length);
}

/**
 * Find what was captured: an error; without errors in the capture a console error, without those a failed request.
 * @param {any} expected @param {Failures} observed @param {string[]} replaced
 * @returns {string | null}
 */
export function findCaptured(expected, observed, replaced) {
  const find = (/** @type {string[]} */ captured, /** @type {string[]} */ seen) =>
    seen.find((text) => captured.some((each) => isSame(each, text, replaced))) ?? null;
  if (expected.errors.length) return find(expected.errors.map(describe), observed.errors.map(describe));
  if (!isFoundByRequests(expected)) return find(expected.console_errors, observed.console_errors);
  const found = observed.failed_requests.find(({ method, url, status, error }) =>
    expected.failed_requests.some(
      (/** @type {FailedRequest} */ each) =>
        !error?.startsWith(REFUSED) &&
        each.method === method &&
        each.status === status &&
        comparePaths(readPath(each.url), readPath(url)) !== null,
    ),
  );
  return found ? `${found.method} ${found.url}: ${found.status ?? found.error}` : null;
}

/** The path of an address. @param {string} url */
export function readPath(url) {
  return URL.canParse(url) ? new URL(url).pathname : '';
}

/** Whether the capture has nothing but failed requests to look for. @param {any} expected */
export function isFoundByRequests({ errors, console_errors: printed }) {
  return errors.length + printed.length === 0;
}

/**
 * Whether two messages are the same, apart from numbers, ids, addresses, and what a run has in place of captured values.
 * @param {string} captured @param {string} seen @param {string[]} replaced
 */
export function isSame(captured, seen, replaced) {
  const [wanted, text] = [normalize(captured), normalize(seen)];
  if (wanted === text) return true;
  const found = replaced.map(normalize).filter((each) => each && text.includes(each));
  if (found.length === 0) return false;
  const places = found.map((each) =>
    each.length < SHORTEST_UNQUOTED ? `(?<=["'“‘\`])${escape(each)}(?=["'”’\`])` : escape(each),
  );
  const fixed = text.split(new RegExp(places.join('|')));
  if (fixed.length === 1 || fixed.join('').length < SHORTEST) return false;
  return new RegExp(`^${fixed.map(escape).join('.{1,200}')}$`).test(wanted);
}

/**
 * Whether two paths are the same, apart from ids, and from what a run has in place of captured values.
 * @param {string} captured @param {string} seen @param {string[]} replaced
 */
export function isSamePath(captured, seen, replaced) {
  const [parts, others] = [captured, seen].map((path) => path.replace(/\/$/, '').split('/'));
  if (!parts || !others || parts.length !== others.length) return false;
  return parts.every((part, index) => {
    const text = decode(others[index] ?? '');
    return comparePaths(part, text) !== null || STAND_IN.test(text) || replaced.includes(text);
  });
}

/** @param {string} text */
function escape(text) {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

/** @param {{ name: string, message: string }} error */
export function describe({ name, message }) {
  const text = message.replace(/^Uncaught (?:\(in promise\) )?/, '');
  return !name || text.startsWith(name) ? text : `${name}: ${text}`;
}

/** A message without what differs each time. @param {string} text */
function normalize(text) {
  const [line = ''] = text.trim().split('\n');
  return line
    .replace(/\b[a-z][\w+.-]{0,30}:\/\/[^\s'"<>)\]]+/gi, '@')
    .replace(CHANGING, '#')
    .replace(/\s+/g, ' ')
    .trim();
}
