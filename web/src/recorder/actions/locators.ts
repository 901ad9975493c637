/**
 * What a record says about an element: role, name, and locators that find exactly it, in Playwright's order of
 * preference: test id, role and name, placeholder, text, CSS.
 */
import type { ActionTarget } from '../capture-types';
import { clip, listOwnTexts, MAX_NAME, nameOf, roleOf, selectorOfRole, textOf } from './accessible-name';
import {
  attributeOf,
  boxOf,
  closestOf,
  containsElement,
  elementsAt,
  hostOf,
  inputTypeOf,
  isEditable,
  labelsOf,
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
export const TEST_IDS = ['data-testid', 'data-test-id', 'data-test', 'data-cy', 'data-qa'];
export const INTERACTIVE =
  'a[href], button, input, select, textarea, summary, label, option, [contenteditable], [tabindex], [onclick], [role]:not([role=presentation], [role=none], [role=main], [role=region])';
/** What contains many things that a person can click. */
const COLLECTIONS =
  'body, dialog, form, table, ul, ol, [role=dialog], [role=form], [role=grid], [role=group], [role=list], [role=listbox], [role=menu], [role=navigation], [role=radiogroup], [role=table], [role=tablist], [role=tabpanel], [role=toolbar], [role=tree], [role=treegrid]';
const MAX_CLIMB = 6;
/** An id that a library makes up is another one the next time: `:r3:`, `radix-7`, `ember42`, `a1b2c3d4`. */
const GENERATED_ID = /:|^(?:radix|ember|mui|headlessui|react-aria)|\d{4}|(?=[a-f]{0,7}\d)[a-f0-9]{8}/i;

/** The element that a person would say they clicked: a button, not the icon in it. */
export function findInteractive(element: Element): Element {
  let each: Element | null = element;
  for (let climbed = 0; each && climbed < MAX_CLIMB; climbed += 1) {
    if (each !== element && matchesSelector(each, COLLECTIONS)) return element;
    if (matchesSelector(each, INTERACTIVE)) return each;
    each = parentOf(each);
  }
  return element;
}

/** Describe an element. Of a private one, only the role of fields is left, and where the fields are. */
export function describeTarget(element: Element): ActionTarget {
  if (isPrivate(element)) return describePrivate(element);
  const shown = findShownLabel(element);
  const role = roleOf(element);
  const name = nameOf(element, role);
  const text = findText(element, name);
  const testIdName = TEST_IDS.find((each) => attributeOf(element, each));
  const selectors = shown
    ? listSelectors(shown, null, '', clip(textOf(shown), MAX_TEXT + 1), null)
    : listSelectors(element, role, name, text, testIdName ?? null);
  return {
    role,
    name: name || null,
    test_id: testIdName ? clip(attributeOf(element, testIdName)!, 200) : null,
    text: text || null,
    selectors,
  };
}

/** The locators of an element that find only it, best first. */
export function listSelectors(
  element: Element,
  role: string | null,
  name: string,
  text: string,
  testIdName: string | null,
): string[] {
  const hosts = describeHosts(element, findByPath);
  return [
    testIdName ? findByAttribute(element, testIdName) : null,
    role && name ? findByRole(element, role, name) : null,
    name ? findByLabel(element, name) : null,
    findByAttribute(element, 'placeholder'),
    text && text.length <= MAX_TEXT ? findByText(element, text) : null,
    findByPath(element),
  ]
    .filter((each) => each !== null)
    .map((each) => hosts + each)
    .filter((each) => each.length <= MAX_SELECTOR);
}

/** What a record says about a private element: where it is, if it is a field; a choice's place would say what it was. */
function describePrivate(element: Element): ActionTarget {
  const target = { role: null, name: null, test_id: null, text: null, selectors: [] };
  if (!isField(element)) return target;
  const role = roleOf(element) ?? 'textbox';
  const type = attributeOf(element, 'type');
  const isChoice = matchesSelector(element, '[type=checkbox], [type=radio]');
  const selectors = [type ? findByAttribute(element, 'type') : null, findByStructure(element)]
    .filter((each) => each !== null && !isChoice)
    .map((each) => describeHosts(element, findByStructure) + each)
    .filter((each) => each.length <= MAX_SELECTOR);
  return { ...target, role, selectors };
}

/** The locators of the frames around this document, outermost first, up to a window; none if it is the page itself. */
export function describeFrames(of: Window = window, page: Window | null = of.top): string[] {
  try {
    if (of === page || of === of.parent) return [];
    const element = of.frameElement;
    const inner = element ? describeFrameElement(element) : describeForeignFrame(of);
    return [...describeFrames(of.parent, page), inner];
  } catch {
    return [describeForeignFrame(of)]; // what is around it isn't known
  }
}

function describeFrameElement(element: Element): string {
  const selector =
    [...TEST_IDS, 'title', 'name']
      .filter((name) => !/\d{3}/.test(attributeOf(element, name) ?? ''))
      .map((name) => findByAttribute(element, name))
      .find((each) => each !== null) ?? findByPath(element);
  return selector === null ? 'iframe' : describeHosts(element, findByPath) + selector;
}

/** The element of a frame whose parent is of another origin is known by its number. */
function describeForeignFrame(of: Window): string {
  for (let index = 0; index < of.parent.length; index += 1)
    if (of.parent[index] === of) return `iframe >> nth=${index}`;
  return 'iframe';
}

/** The label that a person sees in place of a checkbox or radio button that the page hides; null if it shows it. */
function findShownLabel(field: Element): Element | null {
  if (!/^(?:checkbox|radio)$/.test(inputTypeOf(field) ?? '')) return null;
  const { width, height, left, top } = boxOf(field);
  const { visibility, opacity, pointerEvents } = getComputedStyle(field);
  const isShown =
    width > 1 && height > 1 && visibility === 'visible' && opacity !== '0' && pointerEvents !== 'none';
  const hit = isShown ? elementsAt(field, left + width / 2, top + height / 2)[0] : undefined;
  const labels = Array.from(labelsOf(field));
  // something else of the label is drawn over the field
  const isCovered = hit && hit !== field && labels.some((label) => containsElement(label, hit));
  if (isShown && !isCovered) return null;
  return labels.find((label) => boxOf(label).width > 0) ?? null;
}

/** The locators of the shadow hosts around an element, outermost first, each with the mark that chains locators. */
function describeHosts(element: Element, find: (element: Element) => string | null): string {
  const host = hostOf(element);
  const path = host && find(host);
  return path === null ? '' : `${describeHosts(host!, find)}${path} >> `;
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

/** The locator of a field by its label, as Playwright's `getByLabel` has it. */
function findByLabel(element: Element, name: string): string | null {
  if (roleOf(element) || labelsOf(element).length === 0 || name.length >= MAX_NAME) return null;
  const candidates = queryAll(rootOf(element), 'input, select, textarea, [aria-label]');
  if (candidates.length > MAX_CANDIDATES) return null;
  for (let index = 0; index < candidates.length; index += 1) {
    const each = candidates[index]!;
    if (each !== element && nameOf(each) === name) return null;
  }
  return `internal:label=${quote(name)}s`;
}

function findByText(element: Element, text: string): string | null {
  // Playwright compares the texts between an element's children, each for itself
  if (!listOwnTexts(element).includes(text)) return null;
  const localName = localNameOf(element);
  const candidates = queryAll(rootOf(element), CSS.escape(localName));
  if (candidates.length > MAX_CANDIDATES) return null;
  for (let index = 0; index < candidates.length; index += 1) {
    const each = candidates[index]!;
    if (each !== element && clip(textOf(each), MAX_TEXT + 1) === text) return null;
  }
  return `${CSS.escape(localName)}:text-is(${quote(text)})`;
}

/** A path of CSS that says nothing but where an element is. */
function findByStructure(element: Element): string | null {
  return findByPath(element, false);
}

/** A path of CSS from the nearest element with an id, or from the root. */
function findByPath(element: Element, hasIds = true): string | null {
  const steps: string[] = [];
  let each: Element | null = element;
  while (each && steps.length < (hasIds ? MAX_PATH : 2 * MAX_PATH)) {
    const id = hasIds && attributeOf(each, 'id');
    if (id && !GENERATED_ID.test(id) && id.length <= 60 && isOnlyMatch(each, `#${CSS.escape(id)}`)) {
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
