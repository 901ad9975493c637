/**
 * Elements that the pointer rested on. A hover is a step only if something followed: the page changed there, which is
 * seen here, or an error or a request, which is known when the record is read (`joinActions`).
 */
import type { ActionEntry } from '../capture-types';
import { now } from '../natives/natives';
import { containsElement, matchesSelector, targetOf } from './dom';
import { CHANGED, PART, RESTED } from './join-actions';
import { findInteractive } from './locators';

/** What comes later than this has another cause, in milliseconds. */
const CHANGED_MS = 300;
/** A pointer that is in an element for less than this passes by. */
const RESTED_MS = 60;
const MAX_CHANGED = 3;
const MAX_RESTED = 3;
const MAX_RECORDS = 50;
interface Hover {
  element: Element;
  at: number;
  hasChanged: boolean;
}

export class HoverRecorder {
  readonly #observer = new MutationObserver((records) => this.#notice(records));
  #pending: Hover[] = [];
  #current: Hover | null = null;
  /** What the pointer is in, also after that was passed on. */
  #inside: Element | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;

  enter(event: PointerEvent): void {
    if (!event.isTrusted || event.pointerType !== 'mouse' || event.buttons) return;
    const element = targetOf(event);
    if (!element || element === this.#inside) return;
    this.#leave();
    this.#inside = element;
    this.#current = { element, at: now(), hasChanged: false };
    this.#observer.observe(document, {
      subtree: true,
      childList: true,
      attributeFilter: ['class', 'style', 'hidden', 'open', 'aria-expanded', 'data-state'],
    });
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#observer.disconnect(), CHANGED_MS);
  }

  /** Pass on the hovers since the last action. Those before an action on the same element are part of it. */
  flush(acted: Element | null, add: (hover: Partial<ActionEntry>, element: Element) => void): void {
    this.#leave();
    const isPart = ({ element }: Hover) =>
      acted !== null && (containsElement(element, acted) || containsElement(acted, element));
    const changed = this.#pending.filter((each) => each.hasChanged).slice(-MAX_CHANGED);
    const rested = this.#pending.filter((each) => !each.hasChanged).slice(-MAX_RESTED);
    this.#pending = [];
    for (const each of [...changed, ...rested].sort((one, other) => one.at - other.at)) {
      const value_kind = isPart(each) ? PART : each.hasChanged ? CHANGED : RESTED;
      const interactive = findInteractive(each.element);
      if (each.element.isConnected) add({ ts: each.at, value_kind }, interactive);
    }
  }

  #leave(): void {
    const current = this.#current;
    if (current && (current.hasChanged || now() - current.at >= RESTED_MS)) this.#pending.push(current);
    if (this.#pending.length > MAX_CHANGED + MAX_RESTED) this.#pending.shift();
    this.#current = null;
  }

  #notice(records: MutationRecord[]): void {
    const hover = this.#current;
    if (!hover || now() - hover.at > CHANGED_MS) return this.#observer.disconnect();
    const isThere = ({ target, type }: MutationRecord) =>
      containsElement(hover.element, target) ||
      (containsElement(target, hover.element) &&
        (type === 'childList' || !(target instanceof Element && matchesSelector(target, 'html, body'))));
    if (!records.slice(0, MAX_RECORDS).some(isThere)) return;
    hover.hasChanged = true;
    this.#observer.disconnect();
  }
}
