/** What a person can say about an element, and the expectation that becomes of it. */
import { now } from '../natives/natives';
import { clip, nameOf, roleOf, textOf } from '../actions/accessible-name';
import { matchesSelector } from '../actions/dom';
import { describeTarget, INTERACTIVE } from '../actions/locators';
import { isPrivate } from '../actions/privacy';
import type { ActionTarget, Expectation } from '../capture-types';
import { describeFrame, describePlace } from './describe-place';
import { isRecorded } from './find-element';
import { isOutside, readChecked, readEnabled, readText, readValue } from './read-element';

const MAX_OWN_TEXT = 80;

export type Choice = 'text' | 'absent' | 'missing' | 'cut' | 'apart' | 'same_as' | 'usable' | 'checked';

/** The choices for an element, with their words. The text is corrected in a separate field. */
export function listChoices(element: Element): [choice: Choice, words: string][] {
  const isEnabled = readEnabled(element);
  const isChecked = readChecked(element);
  return [
    ['absent', 'Should not be here'],
    ['missing', 'Something is missing here'],
    ...(isEnabled === null ? [] : ([['usable', `Should be ${isEnabled ? 'disabled' : 'enabled'}`]] as const)),
    ...(isChecked === null ? [] : ([['checked', `Should ${isChecked ? 'not ' : ''}be checked`]] as const)),
    ['cut', 'Is cut off'],
    ['apart', 'Overlaps …'],
    ...(readText(element) === null ? [] : ([['same_as', 'Should be the same as …']] as const)),
  ].map(([choice, words]) => [choice, words] as [Choice, string]);
}

/** What the person corrects in an element: its value, or its text; null if it has none, or a long one. */
export function readCorrectable(element: Element): { is: 'text' | 'value'; seen: string } | null {
  const value = isRecorded() ? null : readValue(element);
  if (value !== null) return { is: 'value', seen: value };
  const text = readText(element);
  return text === null ? null : { is: 'text', seen: text };
}

export function expectText(element: Element, right: string): Expectation {
  return { ...readCorrectable(element)!, right, ...place(element, describePlace) };
}

/** The expectation of a choice. `other`: the element that the person pointed at second. */
export function expectChoice(element: Element, choice: Choice, other: Element | null): Expectation {
  const text = readText(element) ?? undefined;
  switch (choice) {
    case 'absent':
      return { is: 'absent', seen: text ?? null, ...place(element, describeIntruder) };
    case 'usable':
      return { is: readEnabled(element) ? 'disabled' : 'enabled', ...place(element, describeThing) };
    case 'checked':
      return { is: 'checked', right: String(!readChecked(element)), ...place(element, describeThing) };
    case 'apart':
      return { is: 'apart', other: describeThing(other!), ...place(element, describeThing) };
    case 'same_as':
      return {
        is: 'same_as',
        seen: text ?? null,
        other: describePlace(other!),
        ...place(element, describePlace),
      };
    default:
      return { is: isOutside(element) ? 'inside' : 'fits', ...place(element, describeThing) };
  }
}

/** Expect something that isn't there, near what is: it has a name, and a role except for plain text. */
export function expectMissing(near: Element, name: string, role: string | null): Expectation {
  const named = role ? { role, name, text: null } : { role, name: null, text: name };
  const missing = place(near, () => ({ ...named, test_id: null, selectors: [] }));
  return { is: 'visible', other: describePlace(near), ...missing };
}

function place(element: Element, describe: (element: Element) => ActionTarget): Omit<Expectation, 'is'> {
  return { target: describe(element), ...describeFrame(element), at: now() };
}

/** Describe an element of which something else than its text is wrong: a control by its name, others with their text. */
function describeThing(element: Element): ActionTarget {
  const role = roleOf(element);
  const isNamed = role && nameOf(element, role) && matchesSelector(element, INTERACTIVE);
  if (isNamed || isPrivate(element)) return describeTarget(element);
  const text = clip(textOf(element));
  const target = describePlace(element);
  return text && text.length <= MAX_OWN_TEXT && !target.name ? { ...target, text } : target;
}

/** Describe what should not be there. Only with its text is it itself: without it, another may be in its place. */
function describeIntruder(element: Element): ActionTarget {
  const thing = describeThing(element);
  const own = clip(readText(element) ?? '', MAX_OWN_TEXT);
  if (!own || matchesSelector(element, INTERACTIVE)) return thing;
  const has = `:has-text("${own.replace(/[\\"]/g, '\\$&')}")`;
  return { ...thing, name: null, text: own, selectors: (thing.selectors ?? []).map((each) => each + has) };
}
