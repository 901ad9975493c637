type Styles = { [property: string]: string };
type Before = Map<string, [value: string, priority: string]>;

/** Styles that are set on elements of the page, by the object model, which no policy of the page forbids. */
export class Changes {
  readonly #before = new Map<HTMLElement, Before>();
  readonly #bare = new Set<HTMLElement>();

  set(element: HTMLElement | null, styles: Styles): void {
    if (!element) return;
    let before = this.#before.get(element);
    if (!before) {
      this.#before.set(element, (before = new Map()));
      if (!element.hasAttribute('style')) this.#bare.add(element);
    }
    const { style } = element;
    for (const [name, value] of Object.entries(styles)) {
      if (!before.has(name))
        before.set(name, [style.getPropertyValue(name), style.getPropertyPriority(name)]);
      style.setProperty(name, value, 'important');
    }
  }

  /** Put some of an element's styles back. */
  unset(element: HTMLElement, names: string[]): void {
    for (const name of names) {
      const [value, priority] = this.#before.get(element)?.get(name) ?? [];
      if (value) element.style.setProperty(name, value, priority);
      else if (value === '') element.style.removeProperty(name);
    }
  }

  /** Put everything back; transitions last, or elements would be seen fading in. */
  undo(): void {
    for (const [element, before] of this.#before)
      this.unset(
        element,
        [...before.keys()].filter((name) => name !== 'transition'),
      );
    for (const element of this.#before.keys()) {
      void getComputedStyle(element).opacity;
      this.unset(element, ['transition']);
      // Chromium writes the attribute when somebody asks, and would leave an empty one otherwise
      if (this.#bare.has(element) && element.getAttribute('style') === '') element.removeAttribute('style');
    }
    this.#before.clear();
  }
}
