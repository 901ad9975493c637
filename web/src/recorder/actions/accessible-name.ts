/**
 * The role and the accessible name of an element, by the parts of ARIA in HTML and accname that locators need.
 *
 * Names never contain what a person entered: fields, editors and private elements are left out of texts.
 */
import { apply } from '../natives/natives';
import {
  attributeOf,
  childNodesOf,
  hasAttributeNamed,
  inputTypeOf,
  isElement,
  isText,
  labelsOf,
  localNameOf,
  matchesSelector,
  queryAll,
  rootOf,
} from './dom';
import { EDITORS, isPrivate } from './privacy';

export const MAX_NAME = 100;
const MAX_NODES = 100;

const INPUT_ROLES: { [type: string]: string } = {
  button: 'button',
  checkbox: 'checkbox',
  email: 'textbox',
  image: 'button',
  number: 'spinbutton',
  radio: 'radio',
  range: 'slider',
  reset: 'button',
  search: 'searchbox',
  submit: 'button',
  tel: 'textbox',
  text: 'textbox',
  url: 'textbox',
};
const ROLES: { [localName: string]: string } = {
  article: 'article',
  button: 'button',
  dialog: 'dialog',
  form: 'form',
  h1: 'heading',
  h2: 'heading',
  h3: 'heading',
  h4: 'heading',
  h5: 'heading',
  h6: 'heading',
  img: 'img',
  li: 'listitem',
  main: 'main',
  nav: 'navigation',
  ol: 'list',
  optgroup: 'group',
  option: 'option',
  table: 'table',
  td: 'cell',
  textarea: 'textbox',
  th: 'columnheader',
  tr: 'row',
  ul: 'list',
};
/** The roles whose elements are named by their content. */
const NAMED_BY_CONTENT = new Set(
  'button cell checkbox columnheader gridcell heading link menuitem menuitemcheckbox menuitemradio option radio row rowheader switch tab tooltip treeitem'.split(
    ' ',
  ),
);
const BUTTON_NAMES: { [type: string]: string } = { submit: 'Submit', reset: 'Reset', image: 'Submit' };

/** The role of an element; null if it has none that a locator could use. */
export function roleOf(element: Element): string | null {
  const given = attributeOf(element, 'role')?.trim().split(/\s+/)[0]?.toLowerCase();
  if (given) return /^[a-z]+$/.test(given) && given !== 'none' && given !== 'presentation' ? given : null;
  const name = localNameOf(element);
  if (name === 'a') return hasAttributeNamed(element, 'href') ? 'link' : null;
  if (name === 'select')
    return hasAttributeNamed(element, 'multiple') || Number(attributeOf(element, 'size')) > 1
      ? 'listbox'
      : 'combobox';
  const type = inputTypeOf(element);
  if (type !== null)
    return hasAttributeNamed(element, 'list') && /^(?:text|search|tel|url|email)$/.test(type)
      ? 'combobox'
      : (INPUT_ROLES[type] ?? null);
  return Object.hasOwn(ROLES, name) ? ROLES[name]! : null;
}

/** CSS that finds every element of a role, and others. */
export function selectorOfRole(role: string): string {
  const names = Object.keys(ROLES).filter((name) => ROLES[name] === role);
  const inputs = Object.keys(INPUT_ROLES).filter((type) => INPUT_ROLES[type] === role);
  return [
    `[role~="${role}" i]`,
    ...names,
    ...inputs.map((type) => `input[type="${type}" i]`),
    ...(role === 'textbox' ? ['input:not([type])'] : []),
    ...(role === 'link' ? ['a[href]'] : []),
    ...(role === 'combobox' ? ['select', 'input[list]'] : []),
    ...(role === 'listbox' ? ['select'] : []),
  ].join(', ');
}

/** The accessible name of an element; '' if it has none. */
export function nameOf(element: Element, role = roleOf(element)): string {
  return clip(findName(element, role));
}

function findName(element: Element, role: string | null): string {
  const referenced = (attributeOf(element, 'aria-labelledby') ?? '').trim();
  if (referenced) {
    const root = rootOf(element);
    const named = referenced
      .split(/\s+/)
      .slice(0, 5)
      .map((id) => queryAll(root, `#${CSS.escape(id)}`)[0]);
    const text = named
      .map((each) => (each && !isPrivate(each) ? attributeOf(each, 'aria-label') || textOf(each) : ''))
      .join(' ');
    if (text.trim()) return text;
  }
  const label = attributeOf(element, 'aria-label');
  if (label?.trim()) return label;
  const own = findNativeName(element);
  if (own.trim()) return own;
  if (role !== null && NAMED_BY_CONTENT.has(role)) {
    const text = textOf(element);
    if (text.trim()) return text;
  }
  return attributeOf(element, 'title') || attributeOf(element, 'placeholder') || '';
}

function findNativeName(element: Element): string {
  const type = inputTypeOf(element);
  if (type !== null && /^(?:button|submit|reset)$/.test(type))
    return attributeOf(element, 'value') ?? BUTTON_NAMES[type] ?? '';
  if (type === 'image') return attributeOf(element, 'alt') ?? attributeOf(element, 'title') ?? 'Submit';
  const labels = labelsOf(element);
  const texts: string[] = [];
  for (let index = 0; index < labels.length && index < 3; index += 1) texts.push(textOf(labels[index]!));
  if (texts.length > 0) return texts.join(' ');
  return localNameOf(element) === 'img' ? (attributeOf(element, 'alt') ?? '') : '';
}

/** The visible text of an element, without what a person entered in it; of long texts, the start. */
export function textOf(element: Element): string {
  if (isPrivate(element)) return '';
  return collectText(element, { nodes: MAX_NODES, characters: 4 * MAX_NAME });
}

function collectText(element: Element, left: { nodes: number; characters: number }): string {
  let text = '';
  const children = childNodesOf(element);
  for (let index = 0; index < children.length && left.nodes > 0 && left.characters > 0; index += 1) {
    const child = children[index]!;
    left.nodes -= 1;
    if (isText(child)) {
      const part = child.data.slice(0, left.characters);
      left.characters -= part.length;
      text += part;
    } else if (isElement(child)) text += collectChildText(child, left);
  }
  return text;
}

function collectChildText(child: Element, left: { nodes: number; characters: number }): string {
  if (
    matchesSelector(
      child,
      `script, style, noscript, template, input, [hidden], [aria-hidden=true], ${EDITORS}`,
    )
  )
    return '';
  if (isPrivate(child)) return '';
  const label =
    attributeOf(child, 'aria-label') ?? (localNameOf(child) === 'img' ? attributeOf(child, 'alt') : null);
  const style = getStyle(child);
  if (style.display === 'none' || style.visibility === 'hidden') return '';
  const text = label ?? collectText(child, left);
  return style.display.startsWith('inline') ? text : ` ${text} `;
}

/** The texts of an element that are between its children. */
export function listOwnTexts(element: Element): string[] {
  const texts = [''];
  const children = childNodesOf(element);
  for (let index = 0; index < children.length && index < MAX_NODES; index += 1) {
    const child = children[index]!;
    if (isText(child)) texts[texts.length - 1] += child.data;
    else texts.push('');
  }
  return texts.map((each) => clip(each, 4 * MAX_NAME));
}

const getComputed = globalThis.getComputedStyle;
function getStyle(element: Element): CSSStyleDeclaration {
  return apply(getComputed, globalThis, [element]) as CSSStyleDeclaration;
}

export function clip(text: string, longest = MAX_NAME): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= longest ? line : line.slice(0, longest);
}
