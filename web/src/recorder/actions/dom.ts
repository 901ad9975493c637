/**
 * The browser's own ways to read elements, taken before any script of the page runs.
 *
 * They are needed even in the extension's world of a page: `<form><input name="getAttribute">` hides the form's method
 * in every world. Each function works on any element, whatever its children are called.
 */
import { apply, getOwnPropertyDescriptor } from '../natives/natives';
import { classifyText, type TextClass } from './text-traits';

function readerOf<T>(prototype: object, name: string): (of: object) => T {
  const { get } = getOwnPropertyDescriptor(prototype, name)!;
  return (of) => apply(get!, of, []) as T;
}

const elements = Element.prototype;
const { getAttribute, hasAttribute, matches, closest } = elements;
const queries = [Document, DocumentFragment, Element].map(({ prototype }) => prototype.querySelectorAll);
const { getBoundingClientRect } = elements;
const { elementsFromPoint } = Document.prototype;
const { contains, getRootNode } = Node.prototype;
const { composedPath } = Event.prototype;

export const localNameOf = readerOf<string>(elements, 'localName');
const nodeTypeOf = readerOf<number>(Node.prototype, 'nodeType');
export const parentOf = readerOf<Element | null>(Node.prototype, 'parentElement');
export const childNodesOf = readerOf<NodeListOf<ChildNode>>(Node.prototype, 'childNodes');
export const nextSiblingOf = readerOf<Element | null>(elements, 'nextElementSibling');
export const previousSiblingOf = readerOf<Element | null>(elements, 'previousElementSibling');
const readLabels: { [localName: string]: (of: object) => NodeListOf<HTMLLabelElement> | null } = {
  input: readerOf(HTMLInputElement.prototype, 'labels'),
  select: readerOf(HTMLSelectElement.prototype, 'labels'),
  textarea: readerOf(HTMLTextAreaElement.prototype, 'labels'),
  button: readerOf(HTMLButtonElement.prototype, 'labels'),
};
const readValues: { [localName: string]: (of: object) => string } = {
  input: readerOf(HTMLInputElement.prototype, 'value'),
  textarea: readerOf(HTMLTextAreaElement.prototype, 'value'),
};
const readInputType = readerOf<string>(HTMLInputElement.prototype, 'type');
const readControl = readerOf<Element | null>(HTMLLabelElement.prototype, 'control');
const readEditable = readerOf<boolean>(HTMLElement.prototype, 'isContentEditable');
const readTextContent = readerOf<string | null>(Node.prototype, 'textContent');

export function attributeOf(element: Element, name: string): string | null {
  return apply(getAttribute, element, [name]) as string | null;
}

export function hasAttributeNamed(element: Element, name: string): boolean {
  return apply(hasAttribute, element, [name]) as boolean;
}

export function matchesSelector(element: Element, selector: string): boolean {
  return apply(matches, element, [selector]) as boolean;
}

export function closestOf(element: Element, selector: string): Element | null {
  return apply(closest, element, [selector]) as Element | null;
}

export function containsElement(outer: Node, inner: Node): boolean {
  return apply(contains, outer, [inner]) as boolean;
}

export function boxOf(element: Element): DOMRect {
  return apply(getBoundingClientRect, element, []) as DOMRect;
}

/** The elements at a point of the window that a pointer can hit, topmost first. */
export function elementsAt(x: number, y: number): Element[] {
  return apply(elementsFromPoint, document, [x, y]) as Element[];
}

/** The elements in a root that match a CSS selector; none if it isn't valid. */
export function queryAll(root: Node, selector: string): ArrayLike<Element> {
  // not by `instanceof`: the document around a frame is of another realm
  const query =
    queries[([Node.DOCUMENT_NODE, Node.DOCUMENT_FRAGMENT_NODE] as number[]).indexOf(nodeTypeOf(root))] ??
    queries[2];
  try {
    return apply(query!, root, [selector]) as NodeListOf<Element>;
  } catch {
    return [];
  }
}

/** The document or the shadow root that contains an element. */
export function rootOf(element: Element): Node {
  return apply(getRootNode, element, []) as Node;
}

/** The innermost element that an event happened at, also inside open shadow roots. */
export function targetOf(event: Event): Element | null {
  const [innermost] = apply(composedPath, event, []) as EventTarget[];
  return innermost instanceof Element ? innermost : null;
}

/** The type of an input; null for other elements. */
export function inputTypeOf(element: Element): string | null {
  return element instanceof HTMLInputElement ? readInputType(element) : null;
}

export function labelsOf(element: Element): ArrayLike<Element> {
  return readLabels[localNameOf(element)]?.(element) ?? [];
}

/** The field that a label belongs to. */
export function controlOf(label: Element): Element | null {
  return label instanceof HTMLLabelElement ? readControl(label) : null;
}

export function isEditable(element: Element): boolean {
  return element instanceof HTMLElement && readEditable(element);
}

/** What kind of text a field has. The text itself isn't returned, so that it can't be recorded. */
export function measureText(field: Element): TextClass {
  const read = readValues[localNameOf(field)];
  return classifyText(read ? read(field) : (readTextContent(field) ?? ''));
}
