/**
 * The mode in which a person points at what is wrong: by pointer or keys, then in a card beside the element. It runs in
 * the extension's world of a page, and in the reporter that pages embed.
 *
 * Its element is over the page, so that all events of the pointer happen there. It handles them at the window, before
 * the page's own listeners, and stops them.
 */
import { hideParts, isPrivate } from '../actions/privacy';
import type { Expectation } from '../capture-types';
import { Redactor } from '../redaction/redactor';
import { createCard, createMissingCard } from './card';
import { chooseCorner } from './choose-corner';
import { expectChoice, expectMissing, expectText, readCorrectable, type Choice } from './compose';
import { createElement } from './create-element';
import { foldSpaces } from './expectation';
import {
  findAt,
  findAtPoint,
  findBox,
  findFirst,
  findFirstChild,
  findFocused,
  findParent,
  findSibling,
  openDocument,
  type Box,
} from './find-element';
import { findLabel } from './read-element';
import { POINTER } from './pointer-element';
import { showOverPage } from './show-over-page';

const EVENTS =
  'pointerdown pointerup pointermove pointerover pointerout pointerenter pointerleave pointercancel mousedown mouseup mousemove mouseover mouseout mouseenter mouseleave click dblclick auxclick contextmenu touchstart touchmove touchend wheel keydown keypress keyup beforeinput input change compositionstart compositionupdate compositionend focusin focusout focus blur copy cut paste selectstart select dragstart';
/** What would move the focus, select text or open a menu. */
const PREVENTED = new Set(['mousedown', 'contextmenu', 'selectstart', 'dragstart']);
/** What moves elements in the window. */
const MOVES = ['scroll', 'resize'];
const HINT = 'Click what is wrong. Or use the arrow keys and Enter.';
const RELATIONS: { [choice: string]: string } = {
  apart: 'Click what it overlaps.',
  same_as: 'Click what it should be the same as.',
};

/** What a person pointed at, and where it was in the window; null if the page was scrolled since. */
export interface PointedElement {
  expectation: Expectation;
  box: Box | null;
}

/** What a person points at instead of this page: one that a replay shows. */
export interface ReplayedPage {
  document: Document;
  /** Where it is wrong, in pixels of the page: the card opens there. */
  point?: [x: number, y: number] | undefined;
}

let running: Pointing | undefined;

/** Let the person point. `masks`: what the projects hide. Resolves to null if they leave. */
export function startPointing(
  masks: readonly string[],
  replayed?: ReplayedPage,
): Promise<PointedElement | null> {
  running?.leave();
  hideParts(masks);
  openDocument(replayed?.document ?? document);
  return new Promise((done) => (running = new Pointing(done, replayed?.point)));
}

class Pointing {
  readonly #host = document.createElement(POINTER);
  readonly #root = createElement('section', {
    class: 'root',
    tabindex: '-1',
    'aria-label': 'What is wrong?',
  });
  readonly #mark = createElement('div', { class: 'mark' });
  readonly #marked = createElement('div', { class: 'marked' });
  readonly #tag = createElement('div', { class: 'tag', role: 'status' });
  readonly #hint = createElement('p', {}, HINT);
  readonly #bar = createElement(
    'div',
    { class: 'bar' },
    this.#hint,
    createElement('button', { type: 'button', class: 'quiet', 'data-act': 'leave' }, 'Cancel'),
  );
  readonly #done: (pointed: PointedElement | null) => void;
  /** The highlighted element. */
  #current: Element | null = null;
  /** The element that the card is about, while the person points at another. */
  #first: Element | null = null;
  #relation: Choice | null = null;
  #card: HTMLElement | null = null;
  #hasScrolled = false;

  constructor(done: (pointed: PointedElement | null) => void, point?: [x: number, y: number]) {
    this.#done = done;
    const start = findFocused();
    for (const type of EVENTS.split(' '))
      addEventListener(type, this.#route, { capture: true, passive: false });
    for (const type of MOVES) addEventListener(type, this.#move, { capture: true, passive: true });
    this.#root.append(this.#marked, this.#mark, this.#tag, this.#bar);
    showOverPage(this.#host, this.#root);
    this.#root.focus();
    const pointed = point && findAtPoint(point, this.#host);
    if (pointed) this.#choose(pointed);
    else this.#highlight(start);
  }

  readonly #route = (event: Event): void => {
    const [innermost] = event.composedPath();
    const isOwn = event.composedPath().includes(this.#host);
    const isKey = event instanceof KeyboardEvent;
    if (!isOwn && !isKey) return;
    event.stopImmediatePropagation();
    if (!event.isTrusted) return;
    const isInCard = innermost instanceof Element && innermost.closest('.card, .bar') !== null;
    if (event.type === 'pointermove' && !this.#card && !isInCard) this.#moveTo(event as PointerEvent);
    else if (event.type === 'click') this.#click(event as MouseEvent, innermost as Element, isInCard);
    else if (event.type === 'keydown') this.#press(event as KeyboardEvent, innermost as Element, isInCard);
    else if (!isInCard && PREVENTED.has(event.type)) event.preventDefault();
    if (isKey && !isOwn) this.#root.focus(); // the page took the focus
  };

  #moveTo({ clientX, clientY }: PointerEvent): void {
    const element = findAt(clientX, clientY, this.#host);
    if (element !== this.#current) this.#highlight(element);
  }

  #click(event: MouseEvent, innermost: Element, isInCard: boolean): void {
    const act = innermost.closest<HTMLElement>('[data-act]')?.dataset.act;
    if (act) return this.#act(act);
    if (isInCard) return;
    if (this.#card) return this.#closeCard();
    if (event.detail > 0) this.#moveTo(event as PointerEvent); // a finger doesn't move before
    if (this.#current) this.#choose(this.#current);
  }

  #press(event: KeyboardEvent, innermost: Element, isInCard: boolean): void {
    const { key } = event;
    if (key === 'Escape') {
      event.preventDefault();
      return this.#card || this.#relation ? this.#closeCard() : this.#finish(null);
    }
    if (isInCard) {
      if (key === 'Tab') this.#moveFocus(event, innermost);
      if (key !== 'Enter' || innermost.localName !== 'input' || event.isComposing) return;
      event.preventDefault();
      return this.#act('done');
    }
    if (key === 'Tab') return this.#moveFocus(event, innermost);
    event.preventDefault();
    if (key === 'Enter' && this.#current) return this.#choose(this.#current);
    const next = this.#findNext(key);
    if (!next) return;
    next.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    this.#highlight(next);
  }

  #findNext(key: string): Element | null {
    if (!this.#current) return /^Arrow/.test(key) ? findFirst() : null;
    if (key === 'ArrowUp') return findParent(this.#current);
    if (key === 'ArrowDown') return findFirstChild(this.#current);
    if (key === 'ArrowLeft') return findSibling(this.#current, -1);
    return key === 'ArrowRight' ? findSibling(this.#current, 1) : null;
  }

  /** Keep the focus in the card, or move between the page and the bar. */
  #moveFocus(event: KeyboardEvent, innermost: Element): void {
    event.preventDefault();
    const controls = [...(this.#card ?? this.#bar).querySelectorAll<HTMLElement>('input, select, button')];
    const stops = this.#card ? controls : [this.#root, ...controls];
    const place = stops.indexOf(innermost as HTMLElement) + (event.shiftKey ? -1 : 1);
    stops.at(place % stops.length)!.focus();
  }

  #choose(element: Element): void {
    if (!this.#relation) return this.#openCard(element, createCard(element, findLabel(element)));
    if (element === this.#first || isPrivate(element)) return;
    this.#finish(expectChoice(this.#first!, this.#relation, element));
  }

  #act(act: string): void {
    const element = this.#first!;
    if (act === 'leave') this.#finish(null);
    else if (act === 'back') this.#closeCard();
    else if (act === 'done') this.#complete(element);
    else if (act === 'missing') this.#openCard(element, createMissingCard());
    else if (RELATIONS[act]) {
      this.#card?.remove();
      this.#card = null;
      this.#relation = act as Choice;
      this.#hint.textContent = RELATIONS[act];
      this.#draw();
      this.#root.focus();
    } else this.#finish(expectChoice(element, act as Choice, null));
  }

  /** Take what was typed into the card. */
  #complete(element: Element): void {
    const shadow = this.#host.shadowRoot!;
    const typed = foldSpaces(shadow.querySelector<HTMLInputElement>('#text')!.value);
    const kind = shadow.querySelector<HTMLSelectElement>('#kind');
    const problem = shadow.querySelector('.bad')!;
    if (kind && !typed) problem.textContent = 'Type its name.';
    else if (kind) this.#finish(expectMissing(element, typed, kind.value || null));
    else {
      const { seen } = readCorrectable(element)!;
      if (typed === foldSpaces(seen)) problem.textContent = 'Type what it should be instead.';
      else if (holdsSecret(seen) || holdsSecret(typed))
        problem.textContent =
          'This looks like a secret, such as a password or a card number. Reports never have one.';
      else this.#finish(expectText(element, typed));
    }
  }

  #openCard(element: Element, card: HTMLElement): void {
    this.#card?.remove();
    this.#first = element;
    this.#card = card;
    this.#highlight(element);
    this.#root.append(card);
    placeCard(card, element);
    const field =
      card.querySelector<HTMLElement>('select, input') ?? card.querySelector<HTMLElement>('button')!;
    field.focus();
    if (field instanceof HTMLInputElement) field.select();
  }

  #closeCard(): void {
    this.#card?.remove();
    this.#card = this.#first = this.#relation = null;
    this.#hint.textContent = HINT;
    this.#draw();
    this.#root.focus();
  }

  #highlight(element: Element | null): void {
    this.#current = element;
    this.#tag.textContent = element ? findLabel(element) : '';
    this.#draw();
  }

  readonly #move = (): void => {
    this.#hasScrolled = true;
    this.#draw();
  };

  #draw(): void {
    outline(this.#mark, this.#current);
    outline(this.#marked, this.#relation && this.#first);
    this.#bar.hidden = this.#card !== null;
    this.#tag.hidden = !this.#current || this.#card !== null;
    if (!this.#current) return;
    const { x, y, height } = findBox(this.#current);
    const below = y + height + 4;
    const top = below + 20 < innerHeight ? below : Math.max(0, y - 24);
    Object.assign(this.#tag.style, { left: `${Math.max(0, x)}px`, top: `${top}px` });
    if (this.#card) placeCard(this.#card, this.#first!);
  }

  leave(): void {
    this.#finish(null);
  }

  #finish(expectation: Expectation | null): void {
    running = undefined;
    const box = this.#first && !this.#hasScrolled ? findBox(this.#first) : null;
    for (const type of EVENTS.split(' ')) removeEventListener(type, this.#route, { capture: true });
    for (const type of MOVES) removeEventListener(type, this.#move, { capture: true });
    this.#host.remove();
    this.#done(expectation && { expectation: new Redactor().redactExpectation(expectation), box });
  }
}

function outline(mark: HTMLElement, element: Element | null): void {
  mark.hidden = !element;
  if (!element) return;
  const { x, y, width, height } = findBox(element);
  const box = { left: x - 2, top: y - 2, width: width + 4, height: height + 4 };
  for (const [name, value] of Object.entries(box)) mark.style.setProperty(name, `${value}px`);
}

/** Whether redaction would change a text. */
function holdsSecret(text: string): boolean {
  return new Redactor().redactText(text) !== text;
}

/** Put the card beside its element: where there is room, else over it. */
function placeCard(card: HTMLElement, element: Element): void {
  const { width, height } = card.getBoundingClientRect();
  const [x, y] = chooseCorner(
    findBox(element),
    { width, height },
    { width: innerWidth, height: innerHeight },
  );
  [card.style.left, card.style.top] = [`${x}px`, `${y}px`];
}
