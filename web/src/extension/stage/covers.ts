import { closedShadow } from '../chromium';
import type { Changes } from './changes';
import type { Part } from './protocol';

const STILL = { transition: 'none' };
const HIDDEN = { ...STILL, opacity: '0', visibility: 'hidden' };
const FLOWING = { ...STILL, position: 'relative', inset: 'auto' };

/** Let what is fixed to the view stand in one part of the picture, and what sticks to it where it would without. */
export function placeCovers(changes: Changes, { upper, lower }: Part): void {
  for (const element of everything(document)) {
    const { position } = getComputedStyle(element);
    if (position === 'sticky') changes.set(element, FLOWING);
    else if (position === 'fixed' && element.offsetParent === null && element !== document.body) {
      const { top, height } = element.getBoundingClientRect();
      const shown = top + height / 2 <= innerHeight / 2 ? upper : lower;
      changes.set(element, shown ? STILL : HIDDEN);
      if (shown) changes.unset(element, ['opacity', 'visibility']);
    }
  }
}

/** All elements, those in shadow trees too. */
function* everything(root: Document | ShadowRoot): Generator<HTMLElement> {
  for (const element of root.querySelectorAll('*')) {
    if (!(element instanceof HTMLElement)) continue;
    yield element;
    const inside = shadowOf(element);
    if (inside) yield* everything(inside);
  }
}

function shadowOf(element: HTMLElement & { openOrClosedShadowRoot?: ShadowRoot | null }): ShadowRoot | null {
  if (element.shadowRoot || !element.localName.includes('-')) return element.shadowRoot;
  return element.openOrClosedShadowRoot ?? closedShadow(element);
}
