/** The parts of a page that no record shows or names: those that the page marks, and the projects' mask selectors. */
import { closestOf, hostOf } from './actions/dom';

const MARKED = '[data-private]';
const EVERYTHING = '*';

/** One selector of all private parts. One that this browser doesn't support hides everything. */
export function joinPrivateParts(masks: readonly string[]): string {
  return [MARKED, ...masks.map((each) => (isSupported(each) ? each : EVERYTHING))].join(', ');
}

function isSupported(selector: string): boolean {
  try {
    document.createDocumentFragment().querySelector(selector);
    return true;
  } catch {
    return false;
  }
}

/** Whether an element, or one around it, matches a selector; also around the shadow root that it is in. */
export function isWithin(element: Element, selector: string): boolean {
  if (closestOf(element, selector)) return true;
  const host = hostOf(element);
  return host !== null && isWithin(host, selector);
}
