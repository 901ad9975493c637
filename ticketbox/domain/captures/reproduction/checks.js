// @ts-check
/** What the page must be like after the last step. Nothing else compares it with what was captured. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isApart, isInside, isWhole } from './boxes.js';

/**
 * @typedef {import('@playwright/test').Locator} Locator
 * @typedef {{ is: string, name: string | null, seen: string | null, right: string | null, words: string }} Expectation
 *   As in expected.json.
 * @typedef {{ holds: boolean, problem: string | null, seen: string | null }} Check What the page is like: `problem` is
 *   why it can't be said, `seen` what it shows.
 */

/** How long all checks wait together for what they expect, and each at least; what holds has to hold on. */
const [CHECKS_MS, CHECK_MS, HOLDS_MS] = [5_000, 200, 500];
/** What may be said of an element that isn't there; another one beside it has to be. */
const WITHOUT_ELEMENT = new Set(['visible', 'absent', 'count']);
const POLL_MS = 50;
const READS = { timeout: 1_000 };
const BOXES = new Set(['fits', 'inside', 'apart']);

/** Names and meanings are those of Playwright's matchers, which not every installation of Playwright has. */
const MATCHERS = /** @type {Record<string, (it: any, ...given: any[]) => Promise<boolean>>} */ ({
  __proto__: null,
  toHaveText: async (it, text) => (await readText(it)) === fold(text),
  toHaveTextOf: async (it, other) => (await readText(it)) === (await readText(other)),
  toHaveValue: async (it, value) => (await it.inputValue(READS)) === value,
  toHaveCount: async (it, count) => (await it.count()) === count,
  toHaveAttribute: async (it, name, value) => (await it.getAttribute(name, READS)) === value,
  toHaveURL: async (page, path) => readAddress(page.url()) === readAddress(new URL(path, page.url()).href),
  toHaveTitle: async (page, title) => fold(await page.title()) === fold(title),
  toBeVisible: (it) => it.isVisible(),
  toBeVisibleNear: (it) => it.isVisible(), // without the other, this isn't where it should be: `findProblem`
  toBeHidden: async (it) => !(await it.isVisible()),
  toBeEnabled: (it) => it.isEnabled(READS),
  toBeDisabled: async (it) => !(await it.isEnabled(READS)),
  toBeChecked: (it) => it.isChecked(READS),
  toFit: isWhole,
  toBeInside: isInside,
  toBeApartFrom: isApart,
});

/**
 * Returns `expect` for the expectations of a capture, one after the other, and what came out. It never throws: the end of
 * the test judges.
 * @param {import('@playwright/test').Page} page @param {Expectation[]} expectations
 * @param {() => Promise<void>} settle Waits until the page has what it had. @param {(error: unknown) => void} noteError
 */
export function createChecks(page, expectations, settle, noteError) {
  /** @type {Check[]} */
  const checks = [];
  let end = 0;

  /** @param {() => Promise<boolean>} match @param {number} last */
  const holds = async (match, last) => {
    for (; !(await match()); await sleep(POLL_MS)) if (Date.now() >= last) return false;
    return true;
  };

  /** @param {any} subject @param {string} matcher @param {boolean} isNot @param {any[]} args */
  const check = async (subject, matcher, isNot, args) => {
    const { is = '', name = null } = expectations[checks.length] ?? {};
    const matches = MATCHERS[matcher];
    if (!matches) throw new Error(`there is no ${matcher}`);
    const match = async () => (await matches(subject, ...args)) !== isNot;
    await settle();
    end ||= Date.now() + CHECKS_MS;
    const elements = subject === page ? [] : [subject, ...args.filter((each) => typeof each === 'object')];
    let problem = await findProblem(is, elements);
    for (; problem && Date.now() < end; problem = await findProblem(is, elements)) await sleep(POLL_MS);
    if (problem) return { holds: false, problem, seen: null };
    if (await holds(match, Math.max(end, Date.now() + CHECK_MS))) {
      await sleep(HOLDS_MS);
      if (await match()) return { holds: true, problem: null, seen: null };
    }
    problem = await findProblem(is, elements);
    return { holds: false, problem, seen: problem ? null : await readShown(page, subject, is, name) };
  };

  /** @param {any} subject @param {boolean} isNot @returns {any} */
  const build = (subject, isNot) =>
    new Proxy(
      {},
      {
        get: (_, matcher) =>
          matcher === 'not'
            ? build(subject, !isNot)
            : async (/** @type {any[]} */ ...args) => {
                const found = await check(subject, String(matcher), isNot, args).catch(noteError);
                checks.push(found ?? { holds: false, problem: 'the check failed', seen: null });
              },
      },
    );

  return { checks, expect: (/** @type {any} */ subject) => build(subject, false) };
}

/**
 * Why nothing can be said of elements; null if it can.
 * @param {string} is @param {Locator[]} elements
 */
async function findProblem(is, elements) {
  for (const [index, each] of elements.entries()) {
    const count = await each.count();
    if (count > 1 && is !== 'count') return `${count} elements match`;
    if (count === 0 && index > 0) return "the other element isn't there";
    if (count === 0 && !WITHOUT_ELEMENT.has(is)) return "the element isn't there";
    if (BOXES.has(is) && !(await each.isVisible())) return "the element isn't visible";
  }
  return null;
}

/**
 * What the page shows in place of what is right; null if that can't be put into a text.
 * @param {import('@playwright/test').Page} page @param {any} subject @param {string} is @param {string | null} name
 * @returns {Promise<string | null>}
 */
async function readShown(page, subject, is, name) {
  switch (is) {
    case 'text':
    case 'same_as':
      return readText(subject);
    case 'value':
      return subject.inputValue(READS);
    case 'count':
      return String(await subject.count());
    case 'attribute':
      return subject.getAttribute(name, READS);
    case 'url':
      return readAddress(page.url());
    case 'title':
      return fold(await page.title());
    default:
      return null;
  }
}

/** The path, query and fragment of an address. @param {string} url */
function readAddress(url) {
  const { pathname, search, hash } = new URL(url);
  return pathname + search + hash;
}

/** @param {Locator} it */
async function readText(it) {
  return fold((await it.textContent(READS)) ?? '');
}

/** Fold white space as `toHaveText` does. @param {string} text */
function fold(text) {
  return text
    .replace(/[\u200b\u00ad]/g, '')
    .trim()
    .replace(/\s+/g, ' ');
}
