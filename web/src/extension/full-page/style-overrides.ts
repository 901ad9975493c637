type Styles = { [property: string]: string };
type OriginalStyles = Map<string, [value: string, priority: string]>;

/** Temporary styles on elements of the page. They are set through the DOM, which no policy of the page forbids. */
export class StyleOverrides {
  readonly #originals = new Map<HTMLElement, OriginalStyles>();
  readonly #withoutAttribute = new Set<HTMLElement>();

  set(element: HTMLElement | null, styles: Styles): void {
    if (!element) return;
    let originals = this.#originals.get(element);
    if (!originals) {
      this.#originals.set(element, (originals = new Map()));
      if (!element.hasAttribute('style')) this.#withoutAttribute.add(element);
    }
    const { style } = element;
    for (const [name, value] of Object.entries(styles)) {
      if (!originals.has(name))
        originals.set(name, [style.getPropertyValue(name), style.getPropertyPriority(name)]);
      style.setProperty(name, value, 'important');
    }
  }

  /** Restore some styles of an element. */
  restore(element: HTMLElement, names: string[]): void {
    for (const name of names) {
      const [value, priority] = this.#originals.get(element)?.get(name) ?? [];
      if (value) element.style.setProperty(name, value, priority);
      else if (value === '') element.style.removeProperty(name);
    }
  }

  /** Restore all styles; `transition` last, so that no element fades in. */
  restoreAll(): void {
    for (const [element, originals] of this.#originals)
      this.restore(
        element,
        [...originals.keys()].filter((name) => name !== 'transition'),
      );
    for (const element of this.#originals.keys()) {
      void getComputedStyle(element).opacity;
      this.restore(element, ['transition']);
      // Chromium writes the attribute when it is read, and would leave an empty one otherwise
      if (this.#withoutAttribute.has(element) && element.getAttribute('style') === '')
        element.removeAttribute('style');
    }
    this.#originals.clear();
  }
}
