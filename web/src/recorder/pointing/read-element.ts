/** What an element shows, and what a person calls it. */
import {
  attributeOf,
  hasAttributeNamed,
  inputTypeOf,
  isElement,
  isText,
  localNameOf,
  matchesSelector,
} from '../actions/dom';
import { nameElement } from '../actions/describe-action';
import { EDITORS, isField, isPrivate } from '../actions/privacy';
import { clip, nameOf, roleOf, textOf } from '../actions/accessible-name';

const MAX_CAPTION = 40;
const MAX_TEXT = 500;
const MAX_CLIMB = 3;
const ITEMS = 'tr, li, article, section, form, td:first-child, [role=row], [role=listitem]';
/** What is before an element without naming it. */
const PROSE = 'h1, h2, p, button, a, ul, ol, table, form';
/** What is before these doesn't name them. */
const NAMED_BY_TEXT =
  'button, a, option, summary, [role=button], [role=link], [role=tab], [role=menuitem], [role=option]';
const SILENT = 'script, style, noscript, template';
const CHECKED = /^(?:checkbox|radio)$/;

/** The text of an element as a test compares it: with what is hidden, and white space as a single space. */
export function readText(element: Element): string | null {
  if (isField(element) || element.querySelector(`${EDITORS}, input, iframe`)) return null;
  const text = collectText(element);
  const line = text?.replace(/\s+/g, ' ').trim() ?? '';
  return line && line.length <= MAX_TEXT ? line : null;
}

/** Null if a part of it is private. */
function collectText(element: Element): string | null {
  if (isPrivate(element)) return null;
  let text = '';
  for (const child of [...element.childNodes, ...(element.shadowRoot?.childNodes ?? [])]) {
    if (isText(child)) text += child.data;
    else if (isElement(child) && !matchesSelector(child, SILENT)) {
      const inner = collectText(child);
      if (inner === null) return null;
      text += inner;
    }
  }
  return text;
}

/** The value of a field into which a person types; null of others. */
export function readValue(element: Element): string | null {
  const type = inputTypeOf(element);
  const isTyped =
    type === null
      ? localNameOf(element) === 'textarea'
      : !/^(?:button|checkbox|color|file|hidden|image|radio|range|reset|submit)$/.test(type);
  return isTyped ? (element as HTMLInputElement).value.slice(0, MAX_TEXT) : null;
}

/** Whether a checkbox, a radio button or a switch is on; null of others. */
export function readChecked(element: Element): boolean | null {
  if (CHECKED.test(inputTypeOf(element) ?? '')) return (element as HTMLInputElement).checked;
  if (!/^(?:checkbox|radio|switch|menuitemcheckbox|menuitemradio)$/.test(roleOf(element) ?? '')) return null;
  return attributeOf(element, 'aria-checked') === 'true';
}

/** Whether a control can be used; null of what is no control. */
export function readEnabled(element: Element): boolean | null {
  const isControl = matchesSelector(element, 'button, input, select, textarea, option, fieldset');
  if (!isControl && !hasAttributeNamed(element, 'aria-disabled')) return null;
  return !matchesSelector(element, ':disabled') && attributeOf(element, 'aria-disabled') !== 'true';
}

/** Whether an element sticks out of the window, which then cuts it off. */
export function isOutside(element: Element): boolean {
  const { left, right } = element.getBoundingClientRect();
  const { clientWidth } = element.ownerDocument.documentElement;
  return left < -1 || right > clientWidth + 1;
}

/** What the page calls an element, without the element's own text: a label, or the text before it. */
export function findCaption(element: Element, own: string): string | null {
  const isCaption = (text: string) =>
    /\p{L}/u.test(text) && text.length <= MAX_CAPTION && !sharesText(text, own);
  const clean = (text: string) => {
    const line = clip(text);
    return line.endsWith(':') ? line.slice(0, -1).trimEnd() : line;
  };
  const name = clean(nameOf(element));
  if (isCaption(name)) return name;
  let each: Element | null = matchesSelector(element, NAMED_BY_TEXT) ? null : element;
  for (let climbed = 0; each && climbed < MAX_CLIMB; climbed += 1) {
    const before = clean(findTextBefore(each));
    if (isCaption(before)) return before;
    if (matchesSelector(each, ITEMS)) break; // what is before it is another one
    each = each.parentElement;
  }
  const id = ['data-testid', 'data-test', 'id'].map((attribute) => attributeOf(element, attribute) ?? '');
  const words = clean((id.find(Boolean) ?? '').replace(/[-_]+/g, ' '));
  return isCaption(words) && !/\d/.test(words) ? words : null;
}

/** The nearest text before an element in the same one; of a table, the first cell of its row. */
function findTextBefore(element: Element): string {
  const row = matchesSelector(element, 'td, [role=cell], [role=gridcell]') ? element.parentElement : null;
  const first = row?.firstElementChild;
  if (first && first !== element) return textOf(first);
  for (let node = element.previousSibling; node; node = node.previousSibling) {
    const text = isText(node)
      ? node.data
      : isElement(node) && !matchesSelector(node, SILENT)
        ? textOf(node)
        : '';
    if (text.trim()) return isElement(node) && matchesSelector(node, PROSE) ? '' : text;
  }
  return '';
}

/** What a person calls an element: its name or its text, else what it is. */
export function findLabel(element: Element): string {
  const role = roleOf(element);
  const text = isPrivate(element)
    ? ''
    : nameOf(element, role) || (isField(element) ? '' : clip(textOf(element)));
  const name = text && text.length <= MAX_CAPTION ? text : null;
  return nameElement({ role, name, text: null, test_id: null, selectors: [`<${localNameOf(element)}>`] });
}

/** Whether one of two texts is in the other. */
export function sharesText(one: string, other: string): boolean {
  return one !== '' && other !== '' && (one.includes(other) || other.includes(one));
}
