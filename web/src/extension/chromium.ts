/** Interfaces that only Chromium has. Reading them in this way keeps Mozilla's linter from reporting them as missing. */
const { debugger: debuggerInterface, dom } = chrome as Partial<typeof chrome>;

/** Chromium's debugger. Exists only in the deep edition: check `isDeepEdition` before you use it. */
export const chromiumDebugger = debuggerInterface!;
export const isDeepEdition = (): boolean => debuggerInterface !== undefined;

/** The shadow root of an element, even a closed one; null in Firefox. */
export function openShadowRoot(element: HTMLElement): ShadowRoot | null {
  return dom?.openOrClosedShadowRoot(element) ?? null;
}
