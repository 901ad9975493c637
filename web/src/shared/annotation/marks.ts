/** Marks on a picture and their geometry, in the picture's own pixels (docs/use/captures.md, "Annotations"). */

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
export interface Words {
  x: number;
  y: number;
  size: number;
}

export type BoxKind = 'rectangle' | 'ellipse' | 'highlight' | 'redact';
export type Shape =
  | { kind: 'arrow'; geometry: Arrow }
  | { kind: BoxKind; geometry: Box }
  | { kind: 'pen'; geometry: Pen }
  | { kind: 'text'; geometry: Words };
export type Kind = Shape['kind'];

export type Mark = Shape & {
  /** Tells marks apart while they are drawn; never sent. */
  key: string;
  /** The server's id, once it is saved. */
  id?: string;
  color: string;
  text: string;
  /** A redaction whose pixels are gone already: nothing is left to move or to take away. */
  fixed?: boolean;
};
export type Saved = Shape & { id: string; color: string; text: string };
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
/** Data, not dress: a mark keeps its colour in light and dark, in the app and in what an agent is shown. */
export const COLORS = [
  { name: 'Red', value: '#e5484d' },
  { name: 'Orange', value: '#f5a524' },
  { name: 'Green', value: '#30a46c' },
  { name: 'Blue', value: '#3b82f6' },
  { name: 'Purple', value: '#8e4ec6' },
  { name: 'Black', value: '#1d1b18' },
  { name: 'White', value: '#ffffff' },
];
export const MAX_TEXT = 500;
const MAX_POINTS = 2_000;
const SMALLEST = 4;
const HALO_BELOW = 150;

let made = 0;
export function newKey(): string {
  return `mark-${++made}`;
}

export function fromSaved({ id, color, text, ...shape }: Saved): Mark {
  const own = { kind: shape.kind, geometry: shape.geometry } as Shape;
  return { ...own, id, color, text, key: newKey(), fixed: shape.kind === 'redact' };
}

export function toInput({ kind, geometry, id, color, text }: Mark): Input {
  return { kind, geometry, id: id ?? null, color, text } as Input;
}

/** How thick lines are on a picture, as the server draws them (ticketbox/domain/captures/images/annotations.py). */
export function strokeOf({ width, height }: Size): number {
  return Math.max(2, Math.round(Math.max(width, height) / 480));
}

/** How high the letters of a mark's label are. */
export function lettersOf(size: Size): number {
  return Math.max(14, 5 * strokeOf(size));
}

/** The colour around letters that keeps them readable on any ground. */
export function haloOf(color: string): string {
  const [red, green, blue] = [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16)) as [
    number,
    number,
    number,
  ];
  return 0.299 * red + 0.587 * green + 0.114 * blue < HALO_BELOW ? '#ffffff' : '#000000';
}

export function boundsOf(mark: Shape): Box {
  switch (mark.kind) {
    case 'arrow': {
      const { x1, y1, x2, y2 } = mark.geometry;
      return around([
        [x1, y1],
        [x2, y2],
      ]);
    }
    case 'pen':
      return around(mark.geometry.points);
    case 'text':
      return { ...mark.geometry, width: mark.geometry.size, height: mark.geometry.size };
    default:
      return mark.geometry;
  }
}

/** Where a mark's label stands. */
export function labelAt(mark: Mark, letters: number): Point {
  let at: Point;
  if (mark.kind === 'arrow') at = [mark.geometry.x1, mark.geometry.y1];
  else if (mark.kind === 'pen') at = mark.geometry.points[0]!;
  else if (mark.kind === 'text') return [mark.geometry.x, mark.geometry.y];
  else at = [mark.geometry.x, mark.geometry.y];
  return [Math.max(0, at[0]), Math.max(0, at[1] - 1.4 * letters)];
}

/** A new mark that spans two points. */
export function spanning(kind: Kind, from: Point, to: Point, color: string, size: Size): Mark {
  const own = { key: newKey(), color, text: '' };
  switch (kind) {
    case 'arrow':
      return { ...own, kind, geometry: { x1: from[0], y1: from[1], x2: to[0], y2: to[1] } };
    case 'pen':
      return { ...own, kind, geometry: { points: [from, to] } };
    case 'text':
      return { ...own, kind, geometry: { x: from[0], y: from[1], size: lettersOf(size) * 1.4 } };
    default:
      return { ...own, kind, geometry: box(from, to) };
  }
}

/** The mark with its end drawn out to another point. */
export function drawnTo(mark: Mark, from: Point, to: Point): Mark {
  switch (mark.kind) {
    case 'arrow':
      return { ...mark, geometry: { ...mark.geometry, x2: to[0], y2: to[1] } };
    case 'pen':
      return { ...mark, geometry: { points: thinned([...mark.geometry.points, to]) } };
    case 'text':
      return { ...mark, geometry: { ...mark.geometry, x: to[0], y: to[1] } };
    default:
      return { ...mark, geometry: box(from, to) };
  }
}

/** Whether anybody would see it; what is smaller was a slip of the hand. */
export function isVisible(mark: Mark): boolean {
  if (mark.kind === 'text') return true;
  const { width, height } = boundsOf(mark);
  return mark.kind === 'arrow' || mark.kind === 'pen'
    ? Math.hypot(width, height) >= SMALLEST
    : width >= SMALLEST && height >= SMALLEST;
}

/** The mark moved, but never off the picture. */
export function moved<M extends Mark>(mark: M, dx: number, dy: number, size: Size): M {
  const now = boundsOf(mark);
  const keep = (at: number, extent: number, by: number, room: number) => {
    const rest = Math.min(extent, SMALLEST);
    return round(Math.min(Math.max(by, rest - extent - at), room - rest - at));
  };
  const x = keep(now.x, now.width, dx, size.width);
  const y = keep(now.y, now.height, dy, size.height);
  return { ...mark, geometry: shifted(mark, x, y) };
}

function shifted(mark: Shape, dx: number, dy: number): Shape['geometry'] {
  switch (mark.kind) {
    case 'arrow': {
      const { x1, y1, x2, y2 } = mark.geometry;
      return { x1: round(x1 + dx), y1: round(y1 + dy), x2: round(x2 + dx), y2: round(y2 + dy) };
    }
    case 'pen':
      return { points: mark.geometry.points.map(([x, y]) => [round(x + dx), round(y + dy)]) };
    default:
      return { ...mark.geometry, x: round(mark.geometry.x + dx), y: round(mark.geometry.y + dy) };
  }
}

/** The points by which a mark is reshaped. */
export function handlesOf(mark: Mark): Point[] {
  switch (mark.kind) {
    case 'arrow':
      return [
        [mark.geometry.x1, mark.geometry.y1],
        [mark.geometry.x2, mark.geometry.y2],
      ];
    case 'pen':
    case 'text':
      return [];
    default: {
      const { x, y, width, height } = mark.geometry;
      return [
        [x, y],
        [x + width, y],
        [x + width, y + height],
        [x, y + height],
      ];
    }
  }
}

/** The mark with one of its handles at another point. */
export function reshaped(mark: Mark, handle: number, to: Point): Mark {
  if (mark.kind === 'arrow') {
    const end = handle === 0 ? { x1: to[0], y1: to[1] } : { x2: to[0], y2: to[1] };
    return { ...mark, geometry: { ...mark.geometry, ...end } };
  }
  if (mark.kind === 'pen' || mark.kind === 'text') return mark;
  return { ...mark, geometry: box(handlesOf(mark)[(handle + 2) % 4]!, to) };
}

/** The mark made larger or smaller by the keyboard. */
export function grown(mark: Mark, dx: number, dy: number, size: Size): Mark {
  if (mark.kind === 'text') {
    const height = Math.min(500, Math.max(8, mark.geometry.size + dx + dy));
    return { ...mark, geometry: { ...mark.geometry, size: height } };
  }
  if (mark.kind === 'pen') return mark;
  const handle = mark.kind === 'arrow' ? 1 : 2;
  const [x, y] = handlesOf(mark)[handle]!;
  const next = reshaped(mark, handle, within([x + dx, y + dy], size));
  return isVisible(next) ? next : mark;
}

export function within([x, y]: Point, { width, height }: Size): Point {
  return [round(Math.min(Math.max(x, 0), width)), round(Math.min(Math.max(y, 0), height))];
}

/** What is blacked out, in whole pixels, for whoever burns it in. */
export function redactions(marks: Mark[]): Box[] {
  return marks.flatMap((mark) => {
    if (mark.kind !== 'redact') return [];
    const { x, y, width, height } = mark.geometry;
    const [left, top] = [Math.floor(x), Math.floor(y)];
    return { x: left, y: top, width: Math.ceil(x + width) - left, height: Math.ceil(y + height) - top };
  });
}

function around(points: Point[]): Box {
  const [across, down] = [points.map(([x]) => x), points.map(([, y]) => y)];
  const [x, y] = [Math.min(...across), Math.min(...down)];
  return { x, y, width: Math.max(...across) - x, height: Math.max(...down) - y };
}

function box([x1, y1]: Point, [x2, y2]: Point): Box {
  return {
    x: Math.min(x1, x2),
    y: Math.min(y1, y2),
    width: round(Math.abs(x2 - x1)),
    height: round(Math.abs(y2 - y1)),
  };
}

/** A line of at most as many points as may be saved. */
function thinned(points: Point[]): Point[] {
  return points.length <= MAX_POINTS ? points : points.filter((_, place) => place % 2 === 0);
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
