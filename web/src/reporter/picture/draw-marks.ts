/** Marks become part of the snapshot: who sees the picture sees them, and nobody can take them off. */
import { maskText } from '../../recorder/replay/masking';
import { NODE, type SnapshotNode } from './snapshot-events';
import type { PageSnapshot } from './take-snapshot';

const ON_TOP =
  'position: fixed; top: 0; left: 0; z-index: 2147483647; overflow: visible; pointer-events: none';
/** The shapes are styled by classes, which the snapshot doesn't have. */
const HALO = { opacity: 0.85 };
const TEXT = { 'font-weight': 600 };
const SHOWN_TEXTS = /^(alt|title|placeholder|value|label|aria-.*)$/;

/**
 * A copy of a snapshot with marks. `layer`: the element with their shapes. `hidden`: the ids of the nodes under
 * redactions, whose texts are masked.
 */
export function drawMarks(picture: PageSnapshot, layer: SVGElement, hidden: Set<number>): PageSnapshot {
  const drawn = structuredClone(picture);
  const root = drawn.snapshot.node.childNodes!.find(({ type }) => type === NODE.element)!;
  let id = hideTexts(drawn.snapshot.node, hidden);

  const copyElement = (element: Element): SnapshotNode => {
    const attributes: SnapshotNode['attributes'] = {};
    for (const { name, value } of element.attributes)
      if (!/^(class|style|role|tabindex|data-.*)$/.test(name)) attributes[name] = value;
    if (element.classList.contains('halo')) Object.assign(attributes, HALO);
    if (element.localName === 'text') Object.assign(attributes, TEXT);
    const children = [...element.childNodes].flatMap((child): SnapshotNode[] => {
      if (child instanceof Element) return child.classList.contains('hit-area') ? [] : [copyElement(child)];
      const text = child.textContent ?? '';
      return text.trim() ? [createNode(NODE.text, text)] : [];
    });
    const node = createNode(NODE.element, '');
    return { ...node, tagName: element.localName, attributes, childNodes: children, isSVG: true };
  };
  const createNode = (type: number, textContent: string): SnapshotNode => {
    return { type, id: (id += 1), tagName: '', attributes: {}, textContent };
  };

  const marks = copyElement(layer);
  root.childNodes!.push({ ...marks, attributes: { ...marks.attributes, style: ON_TOP } });
  return drawn;
}

/** Mask the texts of nodes, and of what is in them if it is shown there, too. Returns the greatest id. */
function hideTexts(node: SnapshotNode, hidden: Set<number>): number {
  if (hidden.has(node.id)) {
    if (node.type === NODE.text) node.textContent = maskText(node.textContent);
    else
      for (const name of Object.keys(node.attributes))
        if (SHOWN_TEXTS.test(name)) node.attributes[name] = maskText(String(node.attributes[name]));
  }
  return Math.max(node.id, ...(node.childNodes ?? []).map((child) => hideTexts(child, hidden)));
}
