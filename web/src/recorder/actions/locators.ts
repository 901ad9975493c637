/**
 * What a record says about an element: role, name, and locators that find exactly it, in Playwright's order of
 * preference: test id, role and name, placeholder, text, CSS.
 */
import type { ActionTarget } from '../capture-types';
import { clip, MAX_NAME, nameOf, roleOf, selectorOfRole, textOf } from './accessible-name';
import {
  attributeOf,
  closestOf,
  isEditable,
  localNameOf,
  matchesSelector,
  parentOf,
  previousSiblingOf,
  queryAll,
  rootOf,
} from './dom';
import { EDITORS, isField, isPrivate } from './privacy';

/** How many elements are compared to prove that a locator finds only one. */
const MAX_CANDIDATES = 200;
const MAX_TEXT = 80;
const MAX_PATH = 12;
const MAX_SELECTOR = 1_000;
const TEST_IDS = ['data-testid', 'data-test-id', 'data-test', 'data-cy', 'data-qa'];
const INTERACTIVE =
  'a[href], button, input, select, textarea, summary, label, option, [contenteditable], [tabindex], [onclick], [role]:not([role=presentation], [role=none], [role=main], [role=region])';
const MAX_CLIMB = 6;

/** The element that a person would say they clicked: a button, not the icon in it. */
export function findInteractive(element: Element): Element {
  let each: Element | null = element;
  for (let climbed = 0; each && climbed < MAX_CLIMB; climbed += 1) {
    if (matchesSelector(each, INTERACTIVE)) return each;
    each = parentOf(each);
  }
  return element;
}

/** Describe an element. Of a private one, only the role of fields is left. */
export function describeTarget(element: Element): ActionTarget {
  const role = roleOf(element);
  if (isPrivate(element))
    return {
      role: isField(element) ? (role ?? 'textbox') : null,
      name: null,
      test_id: null,
      text: null,
      selectors: [],
    };
  const name = nameOf(element, role);
  const text = findText(element, name);
  const testIdName = TEST_IDS.find((each) => attributeOf(element, each));
  const selectors = [
    testIdName ? findByAttribute(element, testIdName) : null,
    role && name ? findByRole(element, role, name) : null,
    findByAttribute(element, 'placeholder'),
    text ? findByText(element, text) : null,
    findByPath(element),
  ];
  const frame = describeHosts(element);
  return {
    role,
    name: name || null,
    test_id: testIdName ? clip(attributeOf(element, testIdName)!, 200) : null,
    text: text || null,
    selectors: selectors
      .filter((each) => each !== null)
      .map((each) => frame + each)
      .filter((each) => each.length <= MAX_SELECTOR),
  };
}

/** The locators of the shadow hosts around an element, outermost first, each with the mark that chains locators. */
function describeHosts(element: Element): string {
  const root = rootOf(element);
  if (!(root instanceof ShadowRoot)) return '';
  const path = findByPath(root.host);
  return path === null ? '' : `${describeHosts(root.host)}${path} >> `;
}

/** The text of an element that has a short one; nothing of fields and editors. */
function findText(element: Element, name: string): string {
  if (isField(element) || isEditable(element) || closestOf(element, EDITORS)) return '';
  const text = clip(textOf(element), MAX_TEXT + 1);
  return text.length <= MAX_TEXT && text !== name ? text : '';
}

function findByAttribute(element: Element, attribute: string): string | null {
  const value = attributeOf(element, attribute);
  if (!value || value.length > 200) return null;
  const selector = `[${attribute}=${quote(value)}]`;
  return isOnlyMatch(element, selector) ? selector : null;
}

function findByRole(element: Element, role: string, name: string): string | null {
  if (name.length >= MAX_NAME) return null;
  const candidates = queryAll(rootOf(element), selectorOfRole(role));
  if (candidates.length > MAX_CANDIDATES) return null;
  for (let index = 0; index < candidates.length; index += 1) {
    const each = candidates[index]!;
    if (each !== element && roleOf(each) === role && nameOf(each, role) === name) return null;
  }
  return `role=${role}[name=${quote(name)}]`;
}

function findByText(element: Element, text: string): string | null {
  const localName = localNameOf(element);
  const candidates = queryAll(rootOf(element), CSS.escape(localName));
  if (candidates.length > MAX_CANDIDATES) return null;
  for (let index = 0; index < candidates.length; index += 1) {
    const each = candidates[index]!;
    if (each !== element && clip(textOf(each), MAX_TEXT + 1) === text) return null;
  }
  return `${CSS.escape(localName)}:text-is(${quote(text)})`;
}

/** A path of CSS from the nearest element with an id, or from the root. */
function findByPath(element: Element): string | null {
  const steps: string[] = [];
  let each: Element | null = element;
  while (each && steps.length < MAX_PATH) {
    const id = attributeOf(each, 'id');
    if (id && id.length <= 60 && isOnlyMatch(each, `#${CSS.escape(id)}`)) {
      steps.unshift(`#${CSS.escape(id)}`);
      break;
    }
    steps.unshift(describeStep(each));
    const selector = steps.join(' > ');
    if (isOnlyMatch(element, selector)) return selector;
    each = parentOf(each);
  }
  const selector = steps.join(' > ');
  return isOnlyMatch(element, selector) ? selector : null;
}

function describeStep(element: Element): string {
  const localName = localNameOf(element);
  let place = 1;
  let sibling = previousSiblingOf(element);
  while (sibling && place <= MAX_CANDIDATES) {
    if (localNameOf(sibling) === localName) place += 1;
    sibling = previousSiblingOf(sibling);
  }
  return `${CSS.escape(localName)}:nth-of-type(${place})`;
}

function isOnlyMatch(element: Element, selector: string): boolean {
  const found = queryAll(rootOf(element), selector);
  return found.length === 1 && found[0] === element;
}

/** A text in quotes, as CSS and Playwright's locators read it. */
function quote(text: string): string {
  return `"${text.replace(/[\\"]/g, '\\$&').replace(/\n/g, '\\a ')}"`;
}
