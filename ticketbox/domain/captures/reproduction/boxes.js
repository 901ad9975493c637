// @ts-check
/** Where elements are on the page: whether they are cut off, inside others, or overlap. */

/** @typedef {import('@playwright/test').Locator} Locator */

/** Differences of a pixel come from rounding. */
const TOLERANCE = 1;

/** Whether nothing of an element is cut off, neither by its own box nor by those around it. @param {Locator} it */
export function isWhole(it) {
  return it.evaluate((element, tolerance) => {
    const clips = (/** @type {Element} */ each, /** @type {'overflowX' | 'overflowY'} */ axis) =>
      /hidden|clip/.test(getComputedStyle(each)[axis]) || (axis === 'overflowX' && each.matches('input'));
    for (const each of [element, ...element.querySelectorAll('*')]) {
      if (clips(each, 'overflowX') && each.scrollWidth > each.clientWidth + tolerance) return false;
      if (clips(each, 'overflowY') && each.scrollHeight > each.clientHeight + tolerance) return false;
    }
    const box = element.getBoundingClientRect();
    for (let each = element.parentElement; each && each !== document.body; each = each.parentElement) {
      const around = each.getBoundingClientRect();
      const isWide = box.left < around.left - tolerance || box.right > around.right + tolerance;
      const isHigh = box.top < around.top - tolerance || box.bottom > around.bottom + tolerance;
      if ((isWide && clips(each, 'overflowX')) || (isHigh && clips(each, 'overflowY'))) return false;
    }
    return true;
  }, TOLERANCE);
}

/**
 * Whether an element is inside another one, or inside the window: upwards and downwards only if it doesn't scroll.
 * @param {Locator} it @param {Locator} [other]
 */
export async function isInside(it, other) {
  if (other) {
    const [box, around] = await measure(it, other);
    return (
      box.x >= around.x - TOLERANCE &&
      box.y >= around.y - TOLERANCE &&
      box.x + box.width <= around.x + around.width + TOLERANCE &&
      box.y + box.height <= around.y + around.height + TOLERANCE
    );
  }
  return it.evaluate((element, tolerance) => {
    const { left, right, top, bottom } = element.getBoundingClientRect();
    let [each, isFixed] = [/** @type {Element | null} */ (element), false];
    for (; each; each = each.parentElement) isFixed ||= getComputedStyle(each).position === 'fixed';
    const isWide = left >= -tolerance && right <= document.documentElement.clientWidth + tolerance;
    return isWide && (!isFixed || (top >= -tolerance && bottom <= innerHeight + tolerance));
  }, TOLERANCE);
}

/** Whether two elements don't overlap. @param {Locator} it @param {Locator} other */
export async function isApart(it, other) {
  const [one, two] = await measure(it, other);
  return (
    one.x + one.width <= two.x + TOLERANCE ||
    two.x + two.width <= one.x + TOLERANCE ||
    one.y + one.height <= two.y + TOLERANCE ||
    two.y + two.height <= one.y + TOLERANCE
  );
}

/** @param {Locator} it @param {Locator} other */
async function measure(it, other) {
  const [one, two] = [await it.boundingBox(), await other.boundingBox()];
  if (!one || !two) throw new Error('an element has no place on the page');
  return /** @type {const} */ ([one, two]);
}
