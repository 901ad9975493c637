import {
  labelSize,
  createKey,
  type Box,
  type Kind,
  type Mark,
  type Point,
  type Shape,
  type Size,
} from './marks';

const MAX_POINTS = 2_000;
const MIN_SIZE = 4;

/** The bounding box of a mark. */
export function markBounds(mark: Shape): Box {
  switch (mark.kind) {
    case 'arrow': {
      const { x1, y1, x2, y2 } = mark.geometry;
      return boundingBox([
        [x1, y1],
        [x2, y2],
      ]);
    }
    case 'pen':
      return boundingBox(mark.geometry.points);
    case 'text':
      return { ...mark.geometry, width: mark.geometry.size, height: mark.geometry.size };
    default:
      return mark.geometry;
  }
}

/** What a mark points at: the head of an arrow, else its middle. */
export function findPointed(mark: Shape): Point {
  if (mark.kind === 'arrow') return [mark.geometry.x2, mark.geometry.y2];
  const { x, y, width, height } = markBounds(mark);
  return [x + width / 2, y + height / 2];
}

/** The position of a mark's label. */
export function labelPosition(mark: Mark, fontSize: number): Point {
  let at: Point;
  if (mark.kind === 'arrow') at = [mark.geometry.x1, mark.geometry.y1];
  else if (mark.kind === 'pen') at = mark.geometry.points[0]!;
  else if (mark.kind === 'text') return [mark.geometry.x, mark.geometry.y];
  else at = [mark.geometry.x, mark.geometry.y];
  return [Math.max(0, at[0]), Math.max(0, at[1] - 1.4 * fontSize)];
}

/** Create a mark from one point to another. */
export function createMark(kind: Kind, from: Point, to: Point, color: string, size: Size): Mark {
  const base = { key: createKey(), color, text: '' };
  switch (kind) {
    case 'arrow':
      return { ...base, kind, geometry: { x1: from[0], y1: from[1], x2: to[0], y2: to[1] } };
    case 'pen':
      return { ...base, kind, geometry: { points: [from, to] } };
    case 'text':
      return { ...base, kind, geometry: { x: from[0], y: from[1], size: labelSize(size) * 1.4 } };
    default:
      return { ...base, kind, geometry: boxBetween(from, to) };
  }
}

/** Extend a mark to another point while it is drawn. */
export function extendMark(mark: Mark, from: Point, to: Point): Mark {
  switch (mark.kind) {
    case 'arrow':
      return { ...mark, geometry: { ...mark.geometry, x2: to[0], y2: to[1] } };
    case 'pen':
      return { ...mark, geometry: { points: thinPoints([...mark.geometry.points, to]) } };
    case 'text':
      return { ...mark, geometry: { ...mark.geometry, x: to[0], y: to[1] } };
    default:
      return { ...mark, geometry: boxBetween(from, to) };
  }
}

/** Whether a mark is large enough to be intended. */
export function isVisible(mark: Mark): boolean {
  if (mark.kind === 'text') return true;
  const { width, height } = markBounds(mark);
  return mark.kind === 'arrow' || mark.kind === 'pen'
    ? Math.hypot(width, height) >= MIN_SIZE
    : width >= MIN_SIZE && height >= MIN_SIZE;
}

/** Move a mark, but never completely off the image. */
export function moveMark<M extends Mark>(mark: M, dx: number, dy: number, size: Size): M {
  const now = markBounds(mark);
  const clamp = (start: number, extent: number, by: number, room: number) => {
    const visible = Math.min(extent, MIN_SIZE);
    return round(Math.min(Math.max(by, visible - extent - start), room - visible - start));
  };
  const x = clamp(now.x, now.width, dx, size.width);
  const y = clamp(now.y, now.height, dy, size.height);
  return { ...mark, geometry: shiftGeometry(mark, x, y) };
}

function shiftGeometry(mark: Shape, dx: number, dy: number): Shape['geometry'] {
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

/** The points that reshape a mark when they are dragged. */
export function markHandles(mark: Mark): Point[] {
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

/** Move one of a mark's handles. */
export function reshapeMark(mark: Mark, handle: number, to: Point): Mark {
  if (mark.kind === 'arrow') {
    const end = handle === 0 ? { x1: to[0], y1: to[1] } : { x2: to[0], y2: to[1] };
    return { ...mark, geometry: { ...mark.geometry, ...end } };
  }
  if (mark.kind === 'pen' || mark.kind === 'text') return mark;
  return { ...mark, geometry: boxBetween(markHandles(mark)[(handle + 2) % 4]!, to) };
}

/** Resize a mark by keyboard. */
export function resizeMark(mark: Mark, dx: number, dy: number, size: Size): Mark {
  if (mark.kind === 'text') {
    const height = Math.min(500, Math.max(8, mark.geometry.size + dx + dy));
    return { ...mark, geometry: { ...mark.geometry, size: height } };
  }
  if (mark.kind === 'pen') return mark;
  const handle = mark.kind === 'arrow' ? 1 : 2;
  const [x, y] = markHandles(mark)[handle]!;
  const next = reshapeMark(mark, handle, clampPoint([x + dx, y + dy], size));
  return isVisible(next) ? next : mark;
}

/** The nearest point on the image. */
export function clampPoint([x, y]: Point, { width, height }: Size): Point {
  return [round(Math.min(Math.max(x, 0), width)), round(Math.min(Math.max(y, 0), height))];
}

/** The redacted areas in whole pixels. */
export function redactionBoxes(marks: Mark[]): Box[] {
  return marks.flatMap((mark) => {
    if (mark.kind !== 'redact') return [];
    const { x, y, width, height } = mark.geometry;
    const [left, top] = [Math.floor(x), Math.floor(y)];
    return { x: left, y: top, width: Math.ceil(x + width) - left, height: Math.ceil(y + height) - top };
  });
}

function boundingBox(points: Point[]): Box {
  const [across, down] = [points.map(([x]) => x), points.map(([, y]) => y)];
  const [x, y] = [Math.min(...across), Math.min(...down)];
  return { x, y, width: Math.max(...across) - x, height: Math.max(...down) - y };
}

function boxBetween([x1, y1]: Point, [x2, y2]: Point): Box {
  return {
    x: Math.min(x1, x2),
    y: Math.min(y1, y2),
    width: round(Math.abs(x2 - x1)),
    height: round(Math.abs(y2 - y1)),
  };
}

/** Halve the points of a line that has more than the API accepts. */
function thinPoints(points: Point[]): Point[] {
  return points.length <= MAX_POINTS ? points : points.filter((_, index) => index % 2 === 0);
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
