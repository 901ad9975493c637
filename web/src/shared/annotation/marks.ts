/** Marks on an image. Their geometry is in pixels of the image (docs/use/captures.md, "Annotations"). */

export interface Arrow {
  x1: number;
  y1: number;
  x2: number;
  y2: number;
}
export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}
export interface Pen {
  points: [number, number][];
}
export interface TextGeometry {
  x: number;
  y: number;
  size: number;
}

export type BoxKind = 'rectangle' | 'ellipse' | 'highlight' | 'redact';
export type Shape =
  | { kind: 'arrow'; geometry: Arrow }
  | { kind: BoxKind; geometry: Box }
  | { kind: 'pen'; geometry: Pen }
  | { kind: 'text'; geometry: TextGeometry };
export type Kind = Shape['kind'];

export type Mark = Shape & {
  /** A key that is unique in the browser; never sent. */
  key: string;
  /** The server's ID; undefined until the mark is saved. */
  id?: string;
  color: string;
  text: string;
  /** A saved redaction: its pixels are deleted, so it can't be changed. */
  isFixed?: boolean;
};
/** A mark as the API returns it. */
export type SavedMark = Shape & { id: string; color: string; text: string };
/** A mark as the API accepts it. */
export type Input = Shape & { id: string | null; color: string; text: string };

export interface Size {
  width: number;
  height: number;
}
export type Point = [number, number];

export const NAMES: Record<Kind, string> = {
  arrow: 'Arrow',
  rectangle: 'Rectangle',
  ellipse: 'Ellipse',
  pen: 'Pen',
  highlight: 'Highlight',
  text: 'Text',
  redact: 'Redact',
};
/** Part of the data: a mark has the same colour in every theme and in the images for agents. */
export const COLORS = [
  { name: 'Red', value: '#e5484d' },
  { name: 'Blue', value: '#3b82f6' },
];
export const MAX_TEXT = 500;
const HALO_BELOW = 150;

let keyCount = 0;
export function createKey(): string {
  return `mark-${++keyCount}`;
}

export function fromSaved({ id, color, text, ...shape }: SavedMark): Mark {
  const shapeOnly = { kind: shape.kind, geometry: shape.geometry } as Shape;
  return { ...shapeOnly, id, color, text, key: createKey(), isFixed: shape.kind === 'redact' };
}

export function toInput({ kind, geometry, id, color, text }: Mark): Input {
  return { kind, geometry, id: id ?? null, color, text } as Input;
}

/** The line width on an image, the same as the server draws. */
export function strokeWidth({ width, height }: Size): number {
  return Math.max(2, Math.round(Math.max(width, height) / 480));
}

/** The font size of a mark's label. */
export function labelSize(size: Size): number {
  return Math.max(14, 5 * strokeWidth(size));
}

/** The outline colour that keeps a label readable on any background. */
export function haloColor(color: string): string {
  const [red, green, blue] = [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16)) as [
    number,
    number,
    number,
  ];
  return 0.299 * red + 0.587 * green + 0.114 * blue < HALO_BELOW ? '#ffffff' : '#000000';
}
