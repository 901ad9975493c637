type Properties = { [name: string]: string };

/** Create an element with attributes, a text or children. */
export function createElement<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Properties,
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) element.setAttribute(attribute, value);
  element.append(...children);
  return element;
}
