/** The events of rrweb 2 that a picture consists of. */

export const SNAPSHOT = 2;
export const INCREMENT = 3;
export const META = 4;
/** The source of an increment: style sheets that scripts have added. */
export const ADOPTED_SHEETS = 15;

export interface Meta {
  href: string;
  width: number;
  height: number;
}

export interface Snapshot {
  node: SnapshotNode;
  initialOffset: { left: number; top: number };
}

export interface Addition {
  source: number;
  /** The node with the style sheets: the document, or the element with a shadow root. */
  id: number;
  styleIds: number[];
  styles?: { styleId: number; rules: { rule: string }[] }[];
}

export const NODE = { document: 0, documentType: 1, element: 2, text: 3 } as const;

/** A node; what it has depends on its type. */
export interface SnapshotNode {
  type: number;
  id: number;
  tagName: string;
  attributes: { [name: string]: string | number | boolean | null };
  childNodes?: SnapshotNode[];
  textContent: string;
  isSVG?: boolean;
  isShadow?: boolean;
  isShadowHost?: boolean;
}
