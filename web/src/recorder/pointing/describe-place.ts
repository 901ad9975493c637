import { clip, nameOf, roleOf, textOf } from '../actions/accessible-name';
import { attributeOf } from '../actions/dom';
import { describeTarget, listSelectors, TEST_IDS } from '../actions/locators';
import { isField, isPrivate } from '../actions/privacy';
import type { ActionTarget } from '../capture-types';
import { describeFramesAround, isInFrame } from './find-element';
import { findCaption, sharesText } from './read-element';

/** Describe an element by locators without its own text, which is what may be wrong; `text` is what the page calls it. */
export function describePlace(element: Element): ActionTarget {
  if (isPrivate(element)) return describeTarget(element);
  const own = isField(element) ? '' : clip(textOf(element));
  const role = roleOf(element);
  const given = nameOf(element, role);
  const name = sharesText(given, own) ? '' : given;
  const testIdName = TEST_IDS.find((each) => attributeOf(element, each)) ?? null;
  const selectors = listSelectors(element, role, name, '', testIdName);
  const caption = name || !selectors.length ? null : findCaption(element, own);
  return {
    role,
    name: name || null,
    test_id: testIdName && clip(attributeOf(element, testIdName)!, 200),
    text: caption,
    selectors,
  };
}

/** The frames around an element: the address of its document, and their locators; nothing in the page itself. */
export function describeFrame(element: Element): { frame?: string; frame_path?: string[] } {
  if (!isInFrame(element)) return {};
  return { frame: element.ownerDocument.location.href, frame_path: describeFramesAround(element) };
}
