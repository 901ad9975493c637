/** The recorded page at a moment of its replay: a tree that rrweb's events change. It runs and loads nothing. */
import type { ReplayEvent } from '../../recorder/replay/channel';

export const ELEMENT = 2;
export const TEXT = 3;
const DOCUMENT = 0;
const FULL_SNAPSHOT = 2;
const INCREMENT = 3;
const META = 4;
const SOURCE = { mutation: 0, scroll: 3, resize: 4, input: 5, rules: 8, declaration: 13, adopted: 15 };

type AttributeValue =
  string | number | boolean | null | { [property: string]: string | [string, string] | false };

/** A node as rrweb writes it. */
interface SentNode {
  type: number;
  id: number;
  tagName?: string;
  attributes?: { [name: string]: AttributeValue };
  textContent?: string;
  childNodes?: SentNode[];
  isSVG?: boolean;
  isShadow?: boolean;
}

export interface PageNode {
  type: number;
  id: number;
  /** Empty except in elements. */
  tag: string;
  attributes: Map<string, string>;
  text: string;
  children: PageNode[];
  parent: PageNode | null;
  isSvg: boolean;
  /** Whether it is in the shadow root of its parent. */
  isShadow: boolean;
  scroll: { x: number; y: number };
  /** The style sheet, once a script has changed its rules. */
  sheet?: CSSStyleSheet;
  /** The style sheets that a script gave to a document or a shadow root. */
  adopted: CSSStyleSheet[];
}

interface SheetRule {
  rule?: string;
  index?: number | number[];
}

/** The data of the events that change the page; each has a part of it. */
interface Change {
  source: number;
  id: number;
  styleId?: number;
  removes?: { id: number; index: number | number[] }[];
  adds?: ({ parentId: number; nextId: number | null; node: SentNode } & SheetRule)[];
  texts?: { id: number; value: string | null }[];
  attributes?: { id: number; attributes: { [name: string]: AttributeValue } }[];
  x: number;
  y: number;
  width: number;
  height: number;
  text: string;
  isChecked: boolean;
  replace?: string;
  replaceSync?: string;
  index: number[];
  set?: { property: string; value: string | null; priority?: string };
  remove?: { property: string };
  styleIds: number[];
  styles?: { styleId: number; rules: SheetRule[] }[];
}

export class PageModel {
  width = 0;
  height = 0;
  root: PageNode | null = null;
  readonly #nodes = new Map<number, PageNode>();
  readonly #sheets = new Map<number, CSSStyleSheet>();

  apply({ type, data }: ReplayEvent): void {
    if (type === META) ({ width: this.width, height: this.height } = data as Change);
    else if (type === FULL_SNAPSHOT) this.#load(data as { node: SentNode; initialOffset?: Offset });
    else if (type === INCREMENT && this.root) this.#change(data as Change);
  }

  #load({ node, initialOffset }: { node: SentNode; initialOffset?: Offset }): void {
    this.#nodes.clear();
    this.root = this.#create(node, null);
    this.root.scroll = { x: initialOffset?.left ?? 0, y: initialOffset?.top ?? 0 };
  }

  #change(change: Change): void {
    const node = this.#nodes.get(change.id);
    switch (change.source) {
      case SOURCE.mutation:
        return this.#mutate(change);
      case SOURCE.scroll:
        if (node) node.scroll = { x: change.x, y: change.y };
        return;
      case SOURCE.resize:
        this.width = change.width;
        this.height = change.height;
        return;
      case SOURCE.input:
        return node && enter(node, change);
      case SOURCE.rules:
        return this.#changeRules(this.#findSheet(change), change);
      case SOURCE.declaration:
        return declare(this.#findSheet(change), change);
      case SOURCE.adopted:
        return this.#adopt(node, change);
    }
  }

  #mutate({ removes = [], adds = [], texts = [], attributes = [] }: Change): void {
    for (const { id } of removes) this.#remove(id);
    let waiting = adds;
    // a node can be listed before the one that it is inserted before
    for (let left = -1; waiting.length && waiting.length !== left;) {
      left = waiting.length;
      waiting = waiting.filter((each) => !this.#add(each.parentId, each.nextId, each.node));
    }
    for (const { id, value } of texts) {
      const node = this.#nodes.get(id);
      if (node) node.text = value ?? '';
    }
    for (const { id, attributes: changed } of attributes) {
      const node = this.#nodes.get(id);
      if (node) for (const [name, value] of Object.entries(changed)) setAttribute(node, name, value);
    }
  }

  #add(parentId: number, nextId: number | null, sent: SentNode): boolean {
    const parent = this.#nodes.get(parentId);
    const next = nextId === null ? null : this.#nodes.get(nextId);
    if (!parent || next === undefined) return false;
    this.#remove(sent.id);
    const node = this.#create(sent, parent);
    const place = next ? parent.children.indexOf(next) : -1;
    if (place < 0) parent.children.push(node);
    else parent.children.splice(place, 0, node);
    return true;
  }

  #remove(id: number): void {
    const node = this.#nodes.get(id);
    if (!node?.parent) return;
    node.parent.children = node.parent.children.filter((each) => each !== node);
    this.#forget(node);
  }

  #forget(node: PageNode): void {
    this.#nodes.delete(node.id);
    for (const child of node.children) this.#forget(child);
  }

  #create(sent: SentNode, parent: PageNode | null): PageNode {
    const node: PageNode = {
      type: sent.type,
      id: sent.id,
      tag: sent.tagName ?? '',
      attributes: new Map(),
      text: sent.textContent ?? '',
      children: [],
      parent,
      isSvg: sent.isSVG ?? false,
      isShadow: sent.isShadow ?? false,
      scroll: { x: 0, y: 0 },
      adopted: [],
    };
    for (const [name, value] of Object.entries(sent.attributes ?? {})) setAttribute(node, name, value);
    node.scroll.x = Number(node.attributes.get('rr_scrollLeft') ?? 0);
    node.scroll.y = Number(node.attributes.get('rr_scrollTop') ?? 0);
    this.#nodes.set(node.id, node);
    node.children = (sent.childNodes ?? []).map((child) => this.#create(child, node));
    return node;
  }

  #findSheet({ id, styleId }: Change): CSSStyleSheet | undefined {
    const node = this.#nodes.get(id);
    if (node) return (node.sheet ??= parseSheet(readStyle(node)));
    return this.#sheets.get(styleId!);
  }

  #changeRules(sheet: CSSStyleSheet | undefined, { adds, removes, replace, replaceSync }: Change): void {
    if (!sheet) return;
    for (const { index } of removes ?? [])
      changeRule(sheet, index, (group, place) => group.deleteRule(place));
    for (const each of adds ?? []) insertRule(sheet, each);
    const text = replace ?? replaceSync;
    if (text !== undefined) sheet.replaceSync(text);
  }

  #adopt(node: PageNode | undefined, { styleIds, styles }: Change): void {
    for (const { styleId, rules } of styles ?? []) {
      const sheet = parseSheet('');
      for (const each of rules) insertRule(sheet, { index: sheet.cssRules.length, ...each });
      this.#sheets.set(styleId, sheet);
    }
    if (node) node.adopted = styleIds.flatMap((id) => this.#sheets.get(id) ?? []);
  }
}

interface Offset {
  left: number;
  top: number;
}

/** The text of a style element, or of a link whose style sheet was recorded; with the rules that scripts changed. */
export function readStyle(node: PageNode): string {
  if (node.sheet) return joinRules(node.sheet);
  const recorded = node.attributes.get('_cssText');
  if (recorded !== undefined) return recorded.replaceAll('/* rr_split */', '');
  return node.tag === 'style' ? node.children.map(({ text }) => text).join('') : '';
}

export function joinRules(sheet: CSSStyleSheet): string {
  return [...sheet.cssRules].map(({ cssText }) => cssText).join('\n');
}

export const isDocument = ({ type }: PageNode): boolean => type === DOCUMENT;

function parseSheet(text: string): CSSStyleSheet {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  return sheet;
}

type RuleGroup = CSSStyleSheet | CSSGroupingRule;

/** Change a rule by its index, which is a path where groups of rules are nested. A rule that isn't there is ignored. */
function changeRule(
  sheet: CSSStyleSheet,
  index: number | number[],
  change: (group: RuleGroup, place: number) => void,
): void {
  const path = typeof index === 'number' ? [index] : index;
  try {
    let group: RuleGroup = sheet;
    for (const place of path.slice(0, -1)) group = group.cssRules[place] as CSSGroupingRule;
    change(group, path.at(-1) ?? 0);
  } catch {
    // rules that this browser doesn't know, or imports, shift the indexes
  }
}

function insertRule(sheet: CSSStyleSheet, { rule, index }: SheetRule): void {
  if (rule !== undefined) changeRule(sheet, index ?? 0, (group, place) => group.insertRule(rule, place));
}

function declare(sheet: CSSStyleSheet | undefined, { index, set, remove }: Change): void {
  if (!sheet) return;
  changeRule(sheet, index, (group, place) => {
    const { style } = group.cssRules[place] as CSSStyleRule;
    if (set) style.setProperty(set.property, set.value, set.priority);
    if (remove) style.removeProperty(remove.property);
  });
}

function enter(node: PageNode, { text, isChecked }: Change): void {
  if (node.tag === 'select') return;
  node.attributes.set('value', text);
  if (isChecked) node.attributes.set('checked', '');
  else node.attributes.delete('checked');
}

function setAttribute(node: PageNode, name: string, value: AttributeValue): void {
  if (name === '_cssText') delete node.sheet;
  if (value === null || value === false) node.attributes.delete(name);
  else if (typeof value === 'object') setStyle(node, value);
  else node.attributes.set(name, value === true ? '' : String(value));
}

/** Change properties of an element's own style. */
function setStyle(node: PageNode, changes: { [property: string]: string | [string, string] | false }): void {
  const kept = (node.attributes.get('style') ?? '')
    .split(/;(?![^(]*\))/)
    .filter((each) => each.trim() && !(each.split(':', 1)[0]!.trim() in changes));
  const added = Object.entries(changes).flatMap(([name, value]) => {
    if (value === false) return [];
    return typeof value === 'string' ? `${name}: ${value}` : `${name}: ${value[0]} !${value[1]}`;
  });
  node.attributes.set('style', [...kept, ...added].join(';'));
}
