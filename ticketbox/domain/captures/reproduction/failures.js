// @ts-check
/** Whether what fails in a page is what was captured: nothing else compares failures. */
import { comparePaths, decode, listTexts } from './answers.js';

/**
 * @typedef {{ url: string, function: string | null, line: number | null }} Frame
 * @typedef {{ name: string, message: string, stack: string, frames: Frame[] }} PageError
 * @typedef {{ text: string, frames: Frame[] }} Printed A text of the console, and where it was printed.
 * @typedef {{ method: string, url: string, status: number | null, error: string | null }} FailedRequest
 * @typedef {{ errors: PageError[], failed_requests: FailedRequest[], printed: Printed[] }} Failures
 * @typedef {{ files: string[], function: string | null, line: number | null }} Place Where something failed: the
 *   names of the script and of the author's file, and the line of the script.
 */

/** A stand-in of a text, as captures have them in bodies: `Xxxx xxxxxb`. */
const STAND_IN = /^(?=.*[xX]{2})[^a-wyzA-WYZ]*[a-zA-Z]{0,3}$/;
/** The error of requests that the run itself refuses, which say nothing about the application. */
const REFUSED = 'net::ERR_BLOCKED_BY_CLIENT';
const [SHORTEST, SHORTEST_UNQUOTED, MOST_REPLACED] = [8, 4, 500];
/** A name up to this length can be one that a bundler chose, which differs from build to build. */
const SHORTENED = 2;
const NAMED_MESSAGE = /^(.*?)\b([A-Z]\w*Error): (.*)$/s;

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
 * Returns functions that compare what a run sees with what was captured.
 * @param {any} expected @param {any} rules messages.json @param {string[]} replaced
 */
export function createMatcher(expected, rules, replaced) {
  const changing = new RegExp(`\\b(?:${rules.id}|0[xX][0-9a-fA-F]+|${rules.hex})\\b|${rules.number}`, 'g');
  const [lead, address] = [new RegExp(rules.lead), new RegExp(rules.address, 'g')];
  const [build, notice] = [new RegExp(rules.build, 'g'), new RegExp(rules.notice)];
  /** @type {{ kind: string, names: RegExp, texts: RegExp[] }[]} */
  const kinds = rules.kinds.map((/** @type {any} */ { kind, names, texts }) => ({
    kind,
    names: new RegExp(`^(?:${names})$`),
    texts: texts.map((/** @type {string} */ each) => new RegExp(each)),
  }));

  /** The first line of an error. @param {{ name: string, message: string }} error */
  const describe = ({ name, message }) => {
    const text = message.replace(lead, '').trim();
    return !name || text.startsWith(name) ? text : `${name}: ${text}`;
  };

  /** A message without what differs each time. @param {string} text */
  const normalize = (text) => {
    const [line = ''] = text.trim().split('\n');
    const start = line.replace(lead, '').slice(0, 4 * rules.longest);
    const plain = start.replace(address, '@').replace(changing, '#').replace(/\s+/g, ' ');
    return plain.trim().slice(0, rules.longest);
  };

  /** Whether texts are the same, apart from what differs each time, and what a run has in place of captured values. */
  const isSame = (/** @type {string} */ captured, /** @type {string} */ seen) =>
    isSameText(normalize(captured), normalize(seen), replaced.map(normalize));

  /** What a browser says in its own words: the kind, which words it is, and what it names. @param {string} text */
  const classify = (text) => {
    const [, before = '', name = '', message = ''] = NAMED_MESSAGE.exec(text.split('\n')[0] ?? '') ?? [];
    for (const each of kinds.filter(({ names }) => names.test(name)))
      for (const [words, pattern] of each.texts.entries()) {
        const found = pattern.exec(message);
        if (found) return { before, kind: each.kind, words, named: found.groups ?? {} };
      }
    return null;
  };

  /** @param {string} url */
  const nameFile = (url) =>
    (url.split(/[?#]/)[0] ?? '')
      .split('/')
      .at(-1)
      ?.replace(/(?::\d+)+$/, '')
      .replace(build, '*') ?? '';

  /** Whether two places are the same; null if that's unknown. @param {Place | null} one @param {Frame[]} frames */
  const comparePlaces = (one, frames) => {
    const frame = frames.find(({ url }) => /^https?:/.test(url));
    if (!one || !frame || !one.files.map(nameFile).includes(nameFile(frame.url))) return null;
    const functions = [one.function, frame.function].map(nameFunction);
    if (functions.every(Boolean)) return functions[0] === functions[1];
    return one.line !== null && one.line === frame.line ? true : null;
  };

  /**
   * Whether a failure is the captured one. What the application wrote is compared as text. Browsers have different words
   * for the same mistake, so what they wrote is compared by its place, and in captures of other browsers by its kind and
   * what it names.
   * @param {string} captured @param {string} seen @param {Place | null} place @param {Frame[]} frames
   */
  const isCaptured = (captured, seen, place, frames) => {
    const [one, other] = [classify(captured), classify(seen)];
    const isPlace = comparePlaces(place, frames);
    if (isSame(captured, seen)) return !one || isPlace !== false;
    if (!expected.browser || !one || one.kind !== other?.kind || !isSame(one.before, other.before))
      return false;
    const named = compareNamed(one.named, other.named);
    if (named === false || isPlace === false) return false;
    const isNowhere = place === null && frames.length === 0 && one.words !== other.words;
    return named === true || isPlace === true || isNowhere;
  };

  const isError = (/** @type {PageError} */ seen) =>
    expected.errors.some((/** @type {PageError} */ each) =>
      isCaptured(describe(each), describe(seen), expected.place, seen.frames),
    );
  const isPrinted = (/** @type {Printed} */ { text, frames }) =>
    expected.console_errors.some((/** @type {string} */ each) =>
      isCaptured(each, text, expected.place, frames),
    );
  const isSameCall = (/** @type {FailedRequest} */ one, /** @type {FailedRequest} */ other) =>
    one.method === other.method && comparePaths(readPath(one.url), readPath(other.url)) !== null;
  const isRequest = (/** @type {FailedRequest} */ seen) =>
    !isRefused(seen) &&
    expected.failed_requests.some(
      (/** @type {FailedRequest} */ each) =>
        isSameCall(each, seen) &&
        each.status === seen.status &&
        ((each.status ?? 400) >= 400 || each.error === seen.error),
    );
  const isBackground = (/** @type {string} */ text) =>
    notice.test(text) ||
    expected.background.some((/** @type {string} */ each) => isCaptured(each, text, null, []));

  return {
    isSame,
    /** What was captured, if it happened again. @param {Failures} seen @returns {string | null} */
    findBug(seen) {
      const error = seen.errors.find(isError);
      if (error) return describe(error);
      const printed = seen.printed.find(isPrinted);
      if (printed) return printed.text;
      const request = seen.failed_requests.find(isRequest);
      return request ? `${request.method} ${request.url}: ${request.error ?? request.status}` : null;
    },
    /** Whether a request is the one that failed in the capture, however it ends. @param {string} method @param {string} url */
    isFailing: (method, url) =>
      expected.failed_requests.some((/** @type {FailedRequest} */ each) =>
        isSameCall(each, { method, url, status: null, error: null }),
      ),
    /** The host of the captured request, if the run itself refuses it. @param {Failures} seen */
    findRefused(seen) {
      const refused = seen.failed_requests.filter(isRefused);
      const found = refused.find((each) =>
        expected.failed_requests.some((/** @type {FailedRequest} */ one) => isSameCall(one, each)),
      );
      return found ? new URL(found.url).host : null;
    },
    /** An error that the capture doesn't have. @param {Failures} seen @returns {string | null} */
    findOther(seen) {
      const errors = seen.errors.filter((each) => !isError(each)).map(describe);
      // a captured text that differs from browser to browser may be one that isn't known to be the same
      const printed = expected.console_errors.some(classify)
        ? seen.printed.filter((each) => !isPrinted(each) && classify(each.text)).map(({ text }) => text)
        : [];
      return [...errors, ...printed].find((each) => !isBackground(each)) ?? null;
    },
  };
}

/** @param {FailedRequest} request */
function isRefused({ error }) {
  return Boolean(error?.startsWith(REFUSED));
}

/** The path of an address. @param {string} url */
export function readPath(url) {
  return URL.canParse(url) ? new URL(url).pathname : '';
}

/** The path of an address with its hash route. @param {string} url */
export function readRoute(url) {
  const { pathname, hash } = new URL(url);
  return pathname + (/^#[/!]/.test(hash) ? (hash.split('?')[0] ?? '') : '');
}

/** Whether the capture has nothing but failed requests to look for. @param {any} expected */
export function isFoundByRequests({ errors, console_errors: printed }) {
  return errors.length + printed.length === 0;
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

/** @param {string} wanted @param {string} text @param {string[]} replaced */
function isSameText(wanted, text, replaced) {
  if (wanted === text) return true;
  const found = replaced.filter((each) => each && text.includes(each));
  if (found.length === 0) return false;
  const places = found.map((each) =>
    each.length < SHORTEST_UNQUOTED ? `(?<=["'“‘\`])${escape(each)}(?=["'”’\`])` : escape(each),
  );
  const fixed = text.split(new RegExp(places.join('|')));
  if (fixed.length === 1 || fixed.join('').length < SHORTEST) return false;
  return new RegExp(`^${fixed.map(escape).join('.{1,200}')}$`).test(wanted);
}

/**
 * Whether two messages of browsers name the same things; null if they name nothing in common.
 * @param {Record<string, string>} one @param {Record<string, string>} other
 */
function compareNamed(one, other) {
  const compared = ['key', 'value'].filter((each) => one[each] && other[each]);
  if (compared.some((each) => one[each] !== other[each])) return false;
  const codes = [one.code, other.code].map(listNames);
  let isNamed = compared.includes('key');
  for (const [index, name] of (codes[0] ?? []).entries()) {
    const counterpart = codes[1]?.[index];
    if (counterpart === undefined) break;
    if (name === counterpart) isNamed ||= name.length > SHORTENED;
    else if (Math.min(name.length, counterpart.length) > SHORTENED) return false;
  }
  return isNamed || null;
}

/** The names in an expression, last first. @param {string} [code] */
function listNames(code = '') {
  const plain = code.replace(/\(intermediate value\)|\(destructured parameter\)/g, '');
  return (plain.match(/[\w$]+/g) ?? []).filter((each) => !/^(?:undefined|null)$/.test(each)).reverse();
}

/** The name of a function as its author wrote it; '' if it has none. @param {string | null} name */
function nameFunction(name) {
  const [found = ''] = /[\w$]+$/.exec((name ?? '').replace(/ \[as .*$/, '')) ?? [];
  return found.length > SHORTENED && !/^(?:anonymous|eval)$/.test(found) ? found : '';
}

/** @param {string} text */
function escape(text) {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
