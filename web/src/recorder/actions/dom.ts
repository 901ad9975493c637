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
const readValidity = readerOf<ValidityState>(HTMLInputElement.prototype, 'validity');
const readControl = readerOf<Element | null>(HTMLLabelElement.prototype, 'control');
const readEditable = readerOf<boolean>(HTMLElement.prototype, 'isContentEditable');
const readHost = readerOf<Element>(ShadowRoot.prototype, 'host');
const readDocument = readerOf<Document>(Node.prototype, 'ownerDocument');
const readNamespace = readerOf<string | null>(elements, 'namespaceURI');
const HTML = 'http://www.w3.org/1999/xhtml';
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

/** The elements at a point of the element's window that a pointer can hit, topmost first. */
export function elementsAt(element: Element, x: number, y: number): Element[] {
  return apply(elementsFromPoint, readDocument(element), [x, y]) as Element[];
}

/** Whether a node is an element; not by `instanceof`, because the documents of frames are of other realms. */
export function isElement(node: Node): node is Element {
  return nodeTypeOf(node) === Node.ELEMENT_NODE;
}

export function isText(node: Node): node is Text {
  return nodeTypeOf(node) === Node.TEXT_NODE;
}

function isHtml(element: Element, localName?: string): boolean {
  return readNamespace(element) === HTML && (localName === undefined || localNameOf(element) === localName);
}

/** The elements in a root that match a CSS selector; none if it isn't valid. */
export function queryAll(root: Node, selector: string): ArrayLike<Element> {
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

/** The host of the shadow root that contains an element; null if a document contains it. */
export function hostOf(element: Element): Element | null {
  const root = rootOf(element);
  // an element that isn't in the page can be in a fragment, which has no host
  return nodeTypeOf(root) === Node.DOCUMENT_FRAGMENT_NODE && 'host' in root ? readHost(root) : null;
}

/** The innermost element that an event happened at, also inside open shadow roots. */
export function targetOf(event: Event): Element | null {
  const [innermost] = apply(composedPath, event, []) as EventTarget[];
  return innermost instanceof Element ? innermost : null;
}

/** The type of an input; null for other elements. */
export function inputTypeOf(element: Element): string | null {
  return isHtml(element, 'input') ? readInputType(element) : null;
}

/** Whether a field has what is no address of its type, such as an email address without an @. */
export function isMistyped(field: Element): boolean {
  return isHtml(field, 'input') && readValidity(field).typeMismatch;
}

export function labelsOf(element: Element): ArrayLike<Element> {
  return readLabels[localNameOf(element)]?.(element) ?? [];
}

/** The field that a label belongs to. */
export function controlOf(label: Element): Element | null {
  return isHtml(label, 'label') ? readControl(label) : null;
}

export function isEditable(element: Element): boolean {
  return isHtml(element) && readEditable(element);
}

/** What kind of text a field has. The text itself isn't returned, so that it can't be recorded. */
export function measureText(field: Element): TextClass {
  const read = readValues[localNameOf(field)];
  return classifyText(read ? read(field) : (readTextContent(field) ?? ''));
}
