// @ts-check
/** What a person does that takes more than one call of Playwright, and how they answer dialogs. */
import { setTimeout as sleep } from 'node:timers/promises';

/** @typedef {import('@playwright/test').Locator} Locator */

const MOVES = 10;
const RESTS_MS = 50;
/** How long a page that is scrolled to its end is waited for to grow. */
const GROWS_MS = 1_000;
/** The smallest PNG. */
const PICTURE =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=';
/** @type {Map<string, string>} */
const TYPES = new Map([
  ...['png', 'jpeg', 'gif', 'webp', 'bmp'].map((each) => /** @type {const} */ ([each, `image/${each}`])),
  ['jpg', 'image/jpeg'],
  ['pdf', 'application/pdf'],
  ['json', 'application/json'],
  ['csv', 'text/csv'],
  ['txt', 'text/plain'],
]);

/**
 * Drag an element to another one, as a pointer does it.
 * @param {Locator} it @param {Locator} target @param {number[]} [from] Where in the element. @param {number[]} [to]
 */
export async function drag(it, target, from, to) {
  const { mouse } = it.page();
  await it.scrollIntoViewIfNeeded();
  const [start, end] = [await findPoint(it, from), await findPoint(target, to)];
  await mouse.move(start.x, start.y);
  await mouse.down();
  for (let count = 1; count <= MOVES; count += 1) {
    const share = count / MOVES;
    await mouse.move(start.x + (end.x - start.x) * share, start.y + (end.y - start.y) * share);
  }
  await sleep(RESTS_MS);
  await mouse.move(end.x, end.y);
  await mouse.up();
}

/**
 * Scroll the page to a place. A page that loads more while it is scrolled isn't high enough at first.
 * @param {import('@playwright/test').Page} page @param {number} x @param {number} y
 */
export async function scrollPage(page, x, y) {
  const scroll = () =>
    page.evaluate(
      ([left = 0, top = 0]) => {
        scrollTo(left, top);
        const { scrollHeight } = document.documentElement;
        return { isThere: Math.abs(scrollY - top) <= 1, height: scrollHeight };
      },
      [x, y],
    );
  let seen = await scroll();
  for (let end = Date.now() + GROWS_MS; !seen.isThere && Date.now() < end;) {
    await sleep(RESTS_MS);
    const now = await scroll();
    if (now.height > seen.height) end = Date.now() + GROWS_MS;
    seen = now;
  }
}

/** A point of an element in the window; its middle if the element doesn't have the point. @param {Locator} element @param {number[]} [point] */
async function findPoint(element, point) {
  await element.waitFor();
  const box = await element.boundingBox();
  if (!box) throw new Error('the element has no place on the page');
  const [x = -1, y = -1] = point ?? [];
  const isInside = x >= 0 && y >= 0 && x <= box.width && y <= box.height;
  return isInside ? { x: box.x + x, y: box.y + y } : { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

/** Select the first option that can be selected and isn't. @param {Locator} it */
export async function choose(it) {
  const index = await it.evaluate((select) => {
    const options = [.../** @type {HTMLSelectElement} */ (select).options];
    const open = options.filter(
      (each) => !each.selected && !each.disabled && !each.hidden && !each.closest('optgroup:disabled'),
    );
    return options.indexOf(open.find(({ value }) => value !== '') ?? /** @type {any} */ (open[0]));
  });
  if (index < 0) throw new Error('the field has no other option');
  await it.selectOption({ index });
}

/** Choose a sample file. @param {Locator} it @param {string} name */
export async function attach(it, name) {
  const extension = name.split('.').at(-1) ?? '';
  const mimeType = TYPES.get(extension) ?? 'application/octet-stream';
  const isPicture = mimeType.startsWith('image/');
  const text = extension === 'json' ? '{}' : extension === 'pdf' ? '%PDF-1.4\n%%EOF\n' : 'sample\n';
  await it.setInputFiles({
    name,
    mimeType,
    buffer: Buffer.from(isPicture ? PICTURE : text, isPicture ? 'base64' : 'utf8'),
  });
}

/**
 * Answer the dialogs of a page as they were answered. Others are dismissed, and alerts closed.
 * @param {import('@playwright/test').Page} page
 */
export function answerDialogs(page) {
  /** @typedef {{ how: 'accept' | 'dismiss', text?: string }} Answer */
  /** Those of the step that is being done, and those of the next one. */
  let [due, next] = [/** @type {Answer[]} */ ([]), /** @type {Answer[]} */ ([])];
  page.context().on('dialog', (dialog) => {
    const isHarmless = dialog.type() === 'alert' || dialog.type() === 'beforeunload';
    const { how, text } = due.shift() ?? { how: isHarmless ? 'accept' : 'dismiss' };
    (how === 'accept' ? dialog.accept(text) : dialog.dismiss()).catch(() => {}); // the page was closed meanwhile
  });
  return {
    /** Say how the next step's dialog is answered. @param {'accept' | 'dismiss'} how @param {string} [text] */
    answer(how, text) {
      next.push(text === undefined ? { how } : { how, text });
    },
    /** A step begins. @param {boolean} isAct Whether it isn't only waiting. */
    begin(isAct) {
      if (isAct || next.length) [due, next] = [next, []];
    },
    isAnyUnasked: () => due.length > 0,
  };
}

/**
 * Watch whether forms are submitted. Returns a function that says whether one was, and forgets it.
 * @param {import('@playwright/test').Page} page
 */
export async function watchSubmits(page) {
  let isSubmitted = false;
  await page.exposeBinding('ticketboxSubmitted', () => void (isSubmitted = true));
  await page.addInitScript(() => {
    const { ticketboxSubmitted: report } = /** @type {any} */ (globalThis);
    addEventListener('submit', () => void report(), true);
  });
  return () => {
    const was = isSubmitted;
    isSubmitted = false;
    return was;
  };
}
