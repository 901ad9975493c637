/** Finds elements of the page: under the pointer, with the focus, and beside another; in open shadow roots and frames, too. */
import { hostOf, isElement } from '../actions/dom';
import { describeFrames, TEST_IDS } from '../actions/locators';

/** What isn't shown. */
const NOTHING = 'script, style, template, noscript, link, meta, head, title, [data-private] *';

const NAMED = `${TEST_IDS.map((each) => `[${each}]`).join()}, [id], [aria-label]`;

/** A box of an element in the window that the page is in. */
export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** The document in which the person points: the page's own, or one that a frame shows, such as a replay. */
let page = document;

/** Point in a document from now on. */
export function openDocument(next: Document): void {
  page = next;
}

/** The innermost element at a point of the window; null if there is none. `own`: what isn't of the page. */
export function findAt(x: number, y: number, own: Element): Element | null {
  for (const frame of listFramesAround(page)) {
    const { left, top, scale } = placeFrame(frame);
    [x, y] = [(x - left) / scale, (y - top) / scale];
  }
  return findAtPoint([x, y], own);
}

/** The innermost element at a point of the page. */
export function findAtPoint([x, y]: [x: number, y: number], own: Element): Element | null {
  return findIn(page, x, y, own);
}

/** The frames around a document in the window, outermost first. */
function listFramesAround(inner: Document): Element[] {
  const frame = frameOf(inner.documentElement);
  return frame ? [...listFramesAround(frame.ownerDocument), frame] : [];
}

function findIn(root: Document | ShadowRoot, x: number, y: number, own: Element): Element | null {
  const hit = root.elementsFromPoint(x, y).find((each) => each !== own && each.getRootNode() === root);
  if (!hit) return null;
  const inner = hit.shadowRoot && findIn(hit.shadowRoot, x, y, own);
  if (inner) return inner;
  const frame = readFrame(hit);
  if (!frame) return findNamed(findUnhittable(hit, x, y));
  const { left, top, scale } = placeFrame(hit);
  return findIn(frame, (x - left) / scale, (y - top) / scale, own) ?? hit;
}

/** What is drawn at a point of an element although a pointer doesn't hit it, such as a disabled button. */
function findUnhittable(element: Element, x: number, y: number): Element {
  const inner = [...element.children].findLast((each) => {
    const { left, right, top, bottom } = each.getBoundingClientRect();
    if (x < left || x > right || y < top || y > bottom) return false;
    const { pointerEvents, visibility } = getComputedStyle(each);
    return visibility === 'visible' && (pointerEvents === 'none' || each.matches('[inert]'));
  });
  return inner ? findUnhittable(inner, x, y) : element;
}

/** The document of a frame of the page's own origin. */
function readFrame(element: Element): Document | null {
  return (element as HTMLIFrameElement).contentDocument ?? null;
}

/** Where the content of a frame begins in its window, and how much the page enlarges it. */
function placeFrame(frame: Element): { left: number; top: number; scale: number } {
  const box = frame.getBoundingClientRect();
  const scale = box.width / (frame as HTMLElement).offsetWidth || 1;
  const { paddingLeft, paddingTop } = getComputedStyle(frame);
  return {
    left: box.left + (frame.clientLeft + parseFloat(paddingLeft)) * scale,
    top: box.top + (frame.clientTop + parseFloat(paddingTop)) * scale,
    scale,
  };
}

/** The box of an element in the page's window, through the frames around it. */
export function findBox(element: Element): Box {
  let { x, y, width, height } = element.getBoundingClientRect();
  for (let frame = frameOf(element); frame; frame = frameOf(frame)) {
    const { left, top, scale } = placeFrame(frame);
    [x, y, width, height] = [left + x * scale, top + y * scale, width * scale, height * scale];
  }
  return { x, y, width, height };
}

function frameOf(element: Element): Element | null {
  const { defaultView } = element.ownerDocument;
  return defaultView === window ? null : (defaultView?.frameElement ?? null);
}

/** The innermost element with the focus; null if it is the page. */
export function findFocused(): Element | null {
  let element = page.activeElement;
  while (element) {
    const inner: Element | null | undefined =
      element.shadowRoot?.activeElement ?? readFrame(element)?.activeElement;
    if (!inner) break;
    element = inner;
  }
  return element && !element.matches('body, html') ? element : null;
}

/** The element around an element, out of shadow roots and frames; null at the page's own body. */
export function findParent(element: Element): Element | null {
  if (element !== element.ownerDocument.body) return element.parentElement ?? hostOf(element);
  return isInFrame(element) ? frameOf(element) : null;
}

/** Whether an element is in a frame of the page. */
export function isInFrame(element: Element): boolean {
  return element.ownerDocument !== page;
}

/** The locators of the frames of the page that an element is in, outermost first. */
export function describeFramesAround(element: Element): string[] {
  return describeFrames(element.ownerDocument.defaultView!, page.defaultView!);
}

/** Where arrow keys begin. */
export function findFirst(): Element {
  return findFirstChild(page.body) ?? page.body;
}

/** Whether the page is a recorded one, in which fields have masks instead of values. */
export function isRecorded(): boolean {
  return page !== document;
}

/**
 * The element around that has nothing else in it and a name for tests: a cell with a test id around its `<b>`. Of a
 * drawing's shapes, it is the drawing.
 */
export function findNamed(hit: Element): Element {
  const element = findDrawing(hit);
  let each: Element | null = element;
  while (each) {
    if (each.matches(NAMED)) return each;
    const parent: Element | null = each.parentElement;
    if (parent?.textContent?.trim() !== each.textContent?.trim() || parent?.children.length !== 1) break;
    each = parent;
  }
  return element;
}

/** The drawing of a shape without a name; an element itself otherwise. */
function findDrawing(element: Element): Element {
  const { ownerSVGElement } = element as SVGElement;
  if (!ownerSVGElement || element.matches(`text, text *, ${NAMED}`)) return element;
  return findDrawing(ownerSVGElement);
}

export function findFirstChild(element: Element): Element | null {
  return listChildren(element)[0] ?? null;
}

/** The next element in the same one, or the previous one for -1. */
export function findSibling(element: Element, direction: 1 | -1): Element | null {
  const parent = findParent(element);
  if (!parent) return null;
  const siblings = listChildren(parent);
  return siblings[siblings.indexOf(element) + direction] ?? null;
}

/** The shown elements in an element, as a person sees them: those of its shadow root, or of its document. */
function listChildren(element: Element): Element[] {
  const root = element.shadowRoot ?? readFrame(element)?.body ?? element;
  return [...root.childNodes].filter(isElement).filter(isShown);
}

function isShown(element: Element): boolean {
  if (element.matches(NOTHING) || element.matches('[popover]:not(:popover-open), ticketbox-pointer'))
    return false;
  const { width, height } = element.getBoundingClientRect();
  return (width > 0 && height > 0) || element.children.length > 0;
}
