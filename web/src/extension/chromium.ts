/** An interface that only Chromium has. Reading it in this way keeps Mozilla's linter from reporting it as missing. */
const { dom } = chrome as Partial<typeof chrome>;

/** The shadow root of an element, even a closed one; null in Firefox. */
export function openShadowRoot(element: HTMLElement): ShadowRoot | null {
  return dom?.openOrClosedShadowRoot(element) ?? null;
}
