/** The fields that leave no trace in a record: passwords, payment cards, and what the page marks. */
import { classifyKey, type KeyKind } from '../redaction/secret-names';
import { isWithin, joinPrivateParts } from '../private-parts';
import { attributeOf, inputTypeOf, matchesSelector } from './dom';

let privateParts = joinPrivateParts([]);
const SECRET_AUTOCOMPLETE = /(?:^|\s)(?:cc-[a-z-]+|(?:current|new)-password|one-time-code)(?:\s|$)/i;
const CARD = /card.?(?:no|num|holder|exp)|cc.?(?:no|num|exp|csc)|\b(?:pan|cvc|cvv|csc|iban)\d?\b/i;
/** A name that is secret whatever the value. A code is, too, if it has digits, but gift cards have codes. */
const SECRET_KINDS = new Set<KeyKind | null>(['strong', 'secret', 'last']);
const NAMING = ['name', 'id', 'aria-label', 'placeholder'];

/** Fields that were password fields once: pages make them text fields to show what was typed. */
const passwords = new WeakSet<Element>();

/** Hide the parts of the page that match one of these selectors, too. */
export function hideParts(masks: readonly string[]): void {
  privateParts = joinPrivateParts(masks);
}

/** Whether an element is in a private part of the page, or is a field for a password, a code or a card. */
export function isPrivate(element: Element): boolean {
  if (isWithin(element, privateParts)) return true;
  if (inputTypeOf(element) === 'password') passwords.add(element);
  if (passwords.has(element)) return true;
  if (SECRET_AUTOCOMPLETE.test(attributeOf(element, 'autocomplete') ?? '')) return true;
  if (!isField(element)) return false;
  const names = NAMING.map((name) => attributeOf(element, name) ?? '');
  return names.some((name) => CARD.test(name) || isSecretName(name));
}

function isSecretName(name: string): boolean {
  return name.length < 100 && SECRET_KINDS.has(classifyKey(name, false));
}

/** Whether a person enters text into an element, or chooses from it. */
export function isField(element: Element): boolean {
  return matchesSelector(element, FIELDS);
}

export const FIELDS =
  'input, textarea, select, [contenteditable], [role=textbox], [role=searchbox], [role=combobox]';
/** What holds entered text; none of it is ever read. */
export const EDITORS =
  'textarea, select, [contenteditable]:not([contenteditable=false]), [role=textbox], [role=searchbox], .monaco-editor, .cm-editor, .CodeMirror, .ace_editor';
