/**
 * Shows a snapshot in a frame of the page, as the player of the web app shows it. The frame inherits the page's policy,
 * which often forbids the inline styles and the HTML text that rrweb's player writes: elements are created one by one,
 * and style sheets are of a kind that isn't subject to the policy.
 */
import { PLACEHOLDERS } from '../../shared/placeholders';
import type { Box } from '../../shared/annotation/marks';
import { NODE, type SnapshotNode } from './snapshot-events';
import type { PageSnapshot } from './take-snapshot';

const SVG = 'http://www.w3.org/2000/svg';
const HIDDEN = /^(script|noscript|object|embed|applet|base|meta|i?frame|frameset|animate\w*|set)$/i;
const LOADING =
  /^(on.*|src|srcset|srcdoc|imagesrcset|action|formaction|ping|background|poster|data|autofocus|autoplay|is|nonce)$/i;
const ADDRESS = /url\((?:"[^"]*"|'[^']*'|[^)"']*)\)/gi;

type Scope = Document | ShadowRoot;

export class SnapshotRenderer {
  readonly #document: Document;
  readonly #window: Window & typeof globalThis;
  readonly #scopes = new Map<number, Scope>();
  readonly #rendered = new Map<Node, number>();
  readonly #scrolled: (() => void)[] = [];
  readonly #modals: HTMLDialogElement[] = [];

  constructor(frame: HTMLIFrameElement) {
    this.#document = frame.contentDocument!;
    this.#window = frame.contentWindow as Window & typeof globalThis;
  }

  show({ snapshot, sheets }: PageSnapshot): void {
    const { node, initialOffset } = snapshot;
    this.#document.documentElement?.remove();
    this.#scopes.set(node.id, this.#document);
    this.#addSheet(this.#document, PLACEHOLDERS.join('\n'));
    for (const child of node.childNodes ?? [])
      if (child.type === NODE.element) this.#append(this.#document, child, this.#document);
    for (const { id, styles } of sheets)
      for (const { rules } of styles ?? [])
        this.#addSheet(this.#scopes.get(id) ?? this.#document, rules.map(({ rule }) => rule).join('\n'));
    for (const modal of this.#modals) modal.showModal();
    for (const scroll of this.#scrolled) scroll();
    this.#window.scrollTo(initialOffset.left, initialOffset.top);
  }

  /** The ids of the nodes that are shown under any of the boxes, even in part. */
  findUnder(boxes: Box[]): Set<number> {
    const range = this.#document.createRange();
    const isUnder = (node: Node) => {
      range.selectNode(node);
      const shown = node.nodeType === Node.TEXT_NODE ? range : (node as Element);
      return [...shown.getClientRects()].some((rect) => boxes.some((box) => overlaps(rect, box)));
    };
    return new Set([...this.#rendered].filter(([node]) => isUnder(node)).map(([, id]) => id));
  }

  #append(parent: Node, node: SnapshotNode, scope: Scope): void {
    if (node.type === NODE.text) {
      if (parent instanceof this.#window.HTMLLinkElement)
        this.#addSheet(scope, node.textContent, parent.getAttribute('media'));
      else {
        const text = this.#document.createTextNode(node.textContent);
        this.#rendered.set(parent.appendChild(text), node.id);
      }
      return;
    }
    if (node.type !== NODE.element || HIDDEN.test(node.tagName)) return;
    // a style element, even an empty one, would break the page's policy
    const element = node.isSVG
      ? this.#document.createElementNS(SVG, node.tagName)
      : this.#document.createElement(node.tagName === 'style' ? 'link' : node.tagName);
    this.#copyAttributes(element as HTMLElement, node, scope);
    this.#rendered.set(parent.appendChild(element), node.id);
    if (node.isShadowHost) this.#scopes.set(node.id, element.attachShadow({ mode: 'open' }));
    for (const child of node.childNodes ?? []) {
      const root = child.isShadow ? (this.#scopes.get(node.id) as ShadowRoot) : null;
      this.#append(root ?? element, child, root ?? scope);
    }
  }

  #copyAttributes(element: HTMLElement, { tagName, attributes }: SnapshotNode, scope: Scope): void {
    const isModal = attributes.rr_open_mode === 'modal';
    if (isModal) this.#modals.push(element as HTMLDialogElement); // with its backdrop
    const media = typeof attributes.media === 'string' ? attributes.media : null;
    for (const [name, value] of Object.entries(attributes)) {
      const text = String(value);
      if (value === null || value === false || LOADING.test(name)) continue;
      if (tagName === 'link' && name === 'rel') continue;
      if (isModal && name === 'open') continue;
      if (name === '_cssText') this.#addSheet(scope, text, media);
      else if (name === 'style') element.style.cssText = removeAddresses(text);
      else if (name === 'rr_width') element.style.width = text;
      else if (name === 'rr_height') element.style.height = text;
      else if (name === 'rr_scrollLeft') this.#scrolled.push(() => (element.scrollLeft = Number(value)));
      else if (name === 'rr_scrollTop') this.#scrolled.push(() => (element.scrollTop = Number(value)));
      else if (name.startsWith('rr_')) continue;
      else if (/href$/.test(name) && !text.startsWith('#')) {
        if (tagName === 'a' || tagName === 'area') element.setAttribute(name, '#');
      } else if (tagName === 'textarea' && name === 'value') element.textContent = text;
      else setAttribute(element, name, value === true ? '' : text);
    }
  }

  #addSheet(scope: Scope, css: string, media: string | null = null): void {
    const sheet = new this.#window.CSSStyleSheet(media ? { media } : {});
    sheet.replaceSync(removeAddresses(css));
    scope.adoptedStyleSheets = [...scope.adoptedStyleSheets, sheet];
  }
}

function overlaps(rect: DOMRect, { x, y, width, height }: Box): boolean {
  return rect.left < x + width && rect.right > x && rect.top < y + height && rect.bottom > y;
}

function removeAddresses(css: string): string {
  return css.replace(ADDRESS, (address) => (/^url\(["']?#/i.test(address) ? address : 'none'));
}

function setAttribute(element: Element, name: string, value: string): void {
  try {
    element.setAttribute(name, value);
  } catch {
    // a name that only a parser accepts
  }
}
