/** Drags: those of the browser (draggable elements), and those that a page follows with the pointer. */
import type { ActionEntry } from '../capture-types';
import { now } from '../natives/natives';
import {
  attributeOf,
  boxOf,
  closestOf,
  containsElement,
  elementsAt,
  isEditable,
  matchesSelector,
  parentOf,
  targetOf,
} from './dom';
import { RESTED } from './join-actions';
import { findInteractive, INTERACTIVE, TEST_IDS } from './locators';
import { EDITORS, isField } from './privacy';

/** A pointer that moved less than this meant to click, in CSS pixels. */
const MOVED = 8;
/** The click that ends a drag comes this soon, in milliseconds. */
const CLICK_MS = 50;
const MAX_CLIMB = 4;
const NAMED = ['id', 'aria-label', 'role', ...TEST_IDS].map((name) => `[${name}]`).join(', ');
const ITEMS = `${NAMED}, li, td, tr, section, canvas, svg`;

type Point = [x: number, y: number];
type Details = Partial<ActionEntry> & Pick<ActionEntry, 'kind'>;
type Add = (details: Details, element: Element) => ActionEntry | null;
type End = (entry: ActionEntry, element: Element, place: Point) => void;
interface Press {
  element: Element;
  at: number;
  place: Point;
  box: DOMRect;
}

/** Where in an element a point of the window is, in CSS pixels from its top left corner. */
export function placeIn(element: Element, [x, y]: Point, { left, top } = boxOf(element)): Point {
  return [Math.round(x - left), Math.round(y - top)];
}

export class DragRecorder {
  readonly #add: Add;
  readonly #end: End;
  #press: Press | null = null;
  /** The drag of the browser that is going on, and what the pointer is over. */
  #dragged: ActionEntry | null = null;
  #over: { element: Element; place: Point } | null = null;
  #endedAt = -Infinity;

  constructor(add: Add, end: End) {
    this.#add = add;
    this.#end = end;
  }

  /** Whether a click only ends a drag. */
  isEnd(): boolean {
    return now() - this.#endedAt <= CLICK_MS;
  }

  press(event: PointerEvent): void {
    const element = targetOf(event);
    this.#press =
      element && event.isTrusted && event.isPrimary && event.button === 0
        ? { element, at: now(), place: [event.clientX, event.clientY], box: boxOf(element) }
        : null;
  }

  cancel(): void {
    if (!this.#dragged) this.#press = null;
  }

  start(event: DragEvent): void {
    const source = targetOf(event);
    if (!event.isTrusted || !source) return;
    const { at: ts, place } = this.#press ?? { at: now(), place: [event.clientX, event.clientY] as Point };
    this.#press = null;
    this.#over = null;
    this.#dragged = this.#add({ kind: 'drag', ts, point: placeIn(source, place) }, source);
  }

  enter(event: DragEvent): void {
    const element = this.#dragged && targetOf(event);
    if (element) this.#over = { element, place: [event.clientX, event.clientY] };
  }

  /** The browser's drag was dropped, or ends without. */
  end(event: DragEvent): void {
    if (event.type === 'drop') this.enter(event);
    if (this.#dragged && this.#over) this.#finish(this.#dragged, this.#over.element, this.#over.place);
    this.#dragged = null;
    this.#over = null;
  }

  /** Record a drag that the page follows itself, if it was one. */
  release(event: PointerEvent): void {
    const press = this.#press;
    this.#press = null;
    if (!press || !event.isTrusted) return;
    const end: Point = [event.clientX, event.clientY];
    const [x, y] = press.place;
    if (Math.hypot(end[0] - x, end[1] - y) < MOVED || isTextWork(press)) return;
    const source = findItem(press.element);
    const box = boxOf(press.element);
    const hasMoved = Math.hypot(box.left - press.box.left, box.top - press.box.top) >= 1;
    const hits = elementsAt(source, ...end);
    const isInside = !hasMoved && hits.some((each) => each === press.element);
    if (isInside && matchesSelector(findInteractive(press.element), INTERACTIVE)) return; // a click that slipped
    const element = isInside ? press.element : hits.find((each) => isBeneath(each, source));
    if (!element) return;
    this.#endedAt = now();
    const point = placeIn(source, press.place, source === press.element ? press.box : undefined);
    // who selects text moves the pointer, too; then it was a drag only if something followed
    const value_kind = getSelection()?.type === 'Range' ? RESTED : null;
    const entry = this.#add({ kind: 'drag', ts: press.at, point, value_kind }, source);
    if (entry) this.#finish(entry, element, end);
  }

  #finish(entry: ActionEntry, element: Element, place: Point): void {
    const item = findItem(element);
    this.#end(entry, item, placeIn(item, place));
  }
}

/** Whether a pointer that moves works in a text field, moves a slider, or scrolls. */
function isTextWork({ element, place: [x, y], box }: Press): boolean {
  if (isField(element) || isEditable(element) || closestOf(element, EDITORS)) return true;
  const { clientWidth, clientHeight } = element;
  const isBar = clientWidth > 0 && (x - box.left > clientWidth + 4 || y - box.top > clientHeight + 4);
  const { documentElement: root } = document;
  return isBar || x >= root.clientWidth || y >= root.clientHeight;
}

/** The element that a person would say they dragged, or dropped something on. */
function findItem(element: Element): Element {
  const draggable = closestOf(element, '[draggable=true]');
  if (draggable) return draggable;
  let each: Element | null = element;
  for (let climbed = 0; each && climbed < MAX_CLIMB; climbed += 1) {
    if (matchesSelector(each, ITEMS) && attributeOf(each, 'role') !== 'presentation') return each;
    each = parentOf(each);
  }
  return element;
}

/** Whether an element is under the one that is dragged, rather than it or the image of it that follows the pointer. */
function isBeneath(element: Element, source: Element): boolean {
  if (containsElement(source, element)) return false;
  for (let each: Element | null = element; each; each = parentOf(each))
    if (getComputedStyle(each).position === 'fixed') return containsElement(each, source);
  return true;
}
