// @ts-check
/** What the page had stored when the recording began, and what the run's own script prepares. */
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

/**
 * What the page had stored before a step that opens it; 0 for the first one. The value is null if it isn't recorded.
 * @typedef {{ before: number, local: Record<string, string | null>, session: Record<string, string | null>,
 *   cookies: string[] }} Stored
 */

const SETUP_MS = 60_000;

/**
 * Run the script of `ticketbox verify --setup` with another page. Its cookies and local storage are shared; what it
 * leaves in session storage is returned. An error of it stops the run before anything is observed.
 * @param {import('@playwright/test').Page} page @param {string} base
 * @returns {Promise<Record<string, string>>}
 */
export async function runSetup(page, base) {
  const file = process.env.REPRODUCTION_SETUP;
  if (!file) return {};
  const own = await page.context().newPage();
  const run = async () => {
    const { default: setup } = await import(pathToFileURL(file).href);
    if (typeof setup !== 'function') throw new Error('the file has no default export that is a function');
    await setup({ page: own, context: page.context(), baseURL: base });
  };
  try {
    const late = sleep(SETUP_MS, undefined, { ref: false }).then(() => {
      throw new Error(`it didn't end within ${SETUP_MS / 1_000} s`);
    });
    await Promise.race([run(), late]);
    if (!own.url().startsWith(`${new URL(base).origin}/`)) return {};
    return await own.evaluate(() => ({ ...sessionStorage }));
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    throw new Error(`The setup script failed: ${text.split('\n')[0]}`, { cause: error });
  } finally {
    await own.close().catch(() => {});
  }
}

/**
 * Store what the page had stored, before the first script of its first document. What is there already stays.
 * @param {import('@playwright/test').Page} page @param {string} origin @param {Stored[]} stored
 * @param {Record<string, string>} prepared Session storage that the setup left.
 */
export async function seedStorage(page, origin, stored, prepared) {
  const { local, session } = collectSeeds(stored.filter(({ before }) => before === 0));
  await page.addInitScript(seed, { origin, local, session: [...Object.entries(prepared), ...session] });
}

/**
 * Store what came from elsewhere before the page was opened again in the recording, such as from another tab.
 * @param {import('@playwright/test').Page} page @param {Stored[]} stored @param {number} number The step that opens it.
 */
export async function seedLater(page, stored, number) {
  const seeds = collectSeeds(stored.filter(({ before }) => before > 0 && before <= number));
  if (!seeds.local.length && !seeds.session.length) return;
  await page.evaluate(({ local, session }) => {
    for (const [name, value] of local)
      if (localStorage.getItem(name) === null) localStorage.setItem(name, value);
    for (const [name, value] of session)
      if (sessionStorage.getItem(name) === null) sessionStorage.setItem(name, value);
  }, seeds);
}

/** @param {Stored[]} stored */
function collectSeeds(stored) {
  const collect = (/** @type {'local' | 'session'} */ kind) =>
    stored
      .flatMap((each) => Object.entries(each[kind]))
      .filter(/** @returns {entry is [string, string]} */ (entry) => entry[1] !== null);
  return { local: collect('local'), session: collect('session') };
}

/**
 * Runs in the page. A later document of the tab has what the earlier ones left.
 * @param {{ origin: string, local: [string, string][], session: [string, string][] }} seeds
 */
function seed({ origin, local, session }) {
  if (window !== top || location.origin !== origin) return;
  const [timing] = /** @type {PerformanceNavigationTiming[]} */ (performance.getEntriesByType('navigation'));
  const { navigation } = /** @type {any} */ (globalThis);
  const isLater = navigation?.activation ? navigation.activation.from !== null : history.length > 1;
  if (isLater || timing?.type === 'reload') return;
  const fill = (/** @type {Storage} */ storage, /** @type {[string, string][]} */ entries) => {
    for (const [name, value] of entries) if (storage.getItem(name) === null) storage.setItem(name, value);
  };
  fill(localStorage, local);
  fill(sessionStorage, session);
}

/** @typedef {{ keys: string[], cookies: string[] }} Lacking In words. */
/** @typedef {{ number: number, reason: string }} Obstacle */

/**
 * List what the page had when the recording began, the capture doesn't have, and this run lacks.
 * @param {import('@playwright/test').Page} page @param {Stored[]} all @returns {Promise<Lacking>}
 */
export async function listLacking(page, all) {
  const stored = all.find(({ before }) => before === 0);
  if (!stored) return { keys: [], cookies: [] };
  const has = await page.evaluate(() => ({ local: { ...localStorage }, session: { ...sessionStorage } }));
  const cookies = new Set((await page.context().cookies(page.url())).map(({ name }) => name));
  const find = (
    /** @type {Record<string, string | null>} */ values,
    /** @type {object} */ found,
    /** @type {string} */ place,
  ) =>
    Object.entries(values)
      .filter(
        ([name, value]) => value === null && !Object.hasOwn(found, name) && !name.includes('[redacted]'),
      )
      .map(([name]) => `“${name}” in ${place}`);
  const keys = [
    ...find(stored.local, has.local, 'local storage'),
    ...find(stored.session, has.session, 'session storage'),
  ];
  const missed = stored.cookies.filter((name) => !cookies.has(name)).map((name) => `the cookie “${name}”`);
  return { keys, cookies: missed };
}

/**
 * Add what a run lacks to the reason why it says nothing. Without a key of its storage, no run says anything; without a
 * cookie it may, because many cookies are for statistics.
 * @param {Obstacle | null} obstacle @param {Lacking | null} lacks
 * @param {number} last The number of the last step.
 * @returns {Obstacle | null}
 */
export function addLacking(obstacle, lacks, last) {
  const { keys = [], cookies = [] } = lacks ?? {};
  const names = obstacle ? [...keys, ...cookies] : keys;
  if (!names.length) return obstacle;
  const more = names.length > 3 ? ` and ${names.length - 3} more` : '';
  const reason = `the page had ${names.slice(0, 3).join(', ')}${more} when the recording began, and this run doesn't`;
  return obstacle ? { ...obstacle, reason: `${obstacle.reason}; ${reason}` } : { number: last, reason };
}
