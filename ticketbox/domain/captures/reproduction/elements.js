// @ts-check
/** The elements of steps, as a person sees them. */
import { setTimeout as sleep } from 'node:timers/promises';

/** How long an element's name is waited for: at first, and once an element wasn't found by its name. */
const [NAMED_MS, STAND_IN_MS] = [1_000, 250];
/** What isn't shown after this is shown only while the pointer is over what is around it. */
const SHOWN_MS = 1_000;

/**
 * Returns a function that chooses the element of a step: by the name that was recorded; where answers have stand-ins,
 * names that come from them differ, and its place in the document finds it.
 * @param {import('@playwright/test').Page} page
 */
export function createChooser(page) {
  let namedMs = NAMED_MS;

  /** @param {import('@playwright/test').Locator} named @param {string | null} place */
  const findElement = async (named, place) => {
    if (place === null) return named;
    for (const end = Date.now() + namedMs; Date.now() < end; await sleep(20))
      if (await named.count()) return named;
    const placed = page.locator(place);
    if ((await placed.count()) !== 1) return named;
    namedMs = STAND_IN_MS;
    return placed;
  };

  /** @param {import('@playwright/test').Locator} named @param {string | null} place */
  return async (named, place) => {
    const element = await findElement(named, place);
    if ((await element.count()) !== 1) return element;
    const label = (await element.evaluateHandle(findShownLabel)).asElement();
    if (!label) await revealElement(element);
    return label ?? element;
  };
}

/** Move the pointer over what is around an element, if that shows it. @param {import('@playwright/test').Locator} element */
async function revealElement(element) {
  for (const end = Date.now() + SHOWN_MS; Date.now() < end; await sleep(20))
    if (await element.isVisible()) return;
  const around = (await element.evaluateHandle(findShownAncestor)).asElement();
  await around?.hover({ timeout: SHOWN_MS }).catch(() => {}); // the step itself fails then, and says why
}

/** The nearest element around one that is hidden; null of fields, which can be used all the same. Runs in the page. @param {Element} element */
function findShownAncestor(element) {
  if (element.matches('input, select, textarea')) return null;
  let each = element.parentElement;
  while (each && (each.getClientRects().length === 0 || getComputedStyle(each).visibility !== 'visible'))
    each = each.parentElement;
  return each === document.body || each === document.documentElement ? null : each;
}

/**
 * The label that a person sees in place of a checkbox or radio button that the page hides; null if it shows the field.
 * Runs in the page.
 * @param {Element} field
 */
function findShownLabel(field) {
  if (!(field instanceof HTMLInputElement) || !/^(?:checkbox|radio)$/.test(field.type)) return null;
  const { width, height, left, top } = field.getBoundingClientRect();
  const { visibility, opacity, pointerEvents } = getComputedStyle(field);
  const labels = [...(field.labels ?? [])];
  if (width > 1 && height > 1 && visibility === 'visible' && opacity !== '0' && pointerEvents !== 'none') {
    const hit = document.elementFromPoint(left + width / 2, top + height / 2);
    if (!hit || hit === field || !labels.some((label) => label.contains(hit))) return null;
  }
  return labels.find((label) => label.getClientRects().length > 0) ?? null;
}
