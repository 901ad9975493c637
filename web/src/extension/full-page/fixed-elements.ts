import { openShadowRoot } from '../chromium';
import type { Part } from './protocol';
import type { StyleOverrides } from './style-overrides';

const VISIBLE = { transition: 'none' };
const HIDDEN = { ...VISIBLE, opacity: '0', visibility: 'hidden' };
const IN_FLOW = { ...VISIBLE, position: 'relative', inset: 'auto' };

/** Show each fixed element in one part of the screenshot only, and each sticky element at its place in the page. */
export function arrangeFixedElements(overrides: StyleOverrides, part: Part): void {
  for (const element of walkElements(document)) {
    const { position } = getComputedStyle(element);
    if (position === 'sticky') overrides.set(element, IN_FLOW);
    else if (position === 'fixed' && element.offsetParent === null && element !== document.body) {
      const { top, height } = element.getBoundingClientRect();
      const isInUpperHalf = top + height / 2 <= innerHeight / 2;
      const isShown = isInUpperHalf ? part.showsTopFixed : part.showsBottomFixed;
      overrides.set(element, isShown ? VISIBLE : HIDDEN);
      if (isShown) overrides.restore(element, ['opacity', 'visibility']);
    }
  }
}

/** All elements, including those in shadow trees. */
function* walkElements(root: Document | ShadowRoot): Generator<HTMLElement> {
  for (const element of root.querySelectorAll('*')) {
    if (!(element instanceof HTMLElement)) continue;
    yield element;
    const shadowRoot = shadowRootOf(element);
    if (shadowRoot) yield* walkElements(shadowRoot);
  }
}

function shadowRootOf(
  element: HTMLElement & { openOrClosedShadowRoot?: ShadowRoot | null },
): ShadowRoot | null {
  if (element.shadowRoot || !element.localName.includes('-')) return element.shadowRoot;
  return element.openOrClosedShadowRoot ?? openShadowRoot(element);
}
