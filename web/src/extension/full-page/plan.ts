import type { PageState } from './protocol';

const MAX_PIXELS = 49_000_000; // the server accepts 50 million
const MAX_CANVAS_SIDE = 32_767; // in Firefox
const MAX_PARTS = 60;

export interface Plan {
  width: number;
  height: number;
  positions: { x: number; y: number }[];
}

/** Plan the positions to scroll to, row by row, and the size of the composed screenshot. */
export function planParts({
  minX,
  width: pageWidth,
  height: pageHeight,
  viewport,
  devicePixelRatio,
}: Pick<PageState, 'minX' | 'width' | 'height' | 'viewport' | 'devicePixelRatio'>): Plan {
  const width = Math.min(pageWidth, Math.floor(MAX_CANVAS_SIDE / devicePixelRatio), 4 * viewport.width);
  const columns = planSteps(width, viewport.width).map((x) => minX + x);
  const maxHeight = Math.floor(
    Math.min(MAX_CANVAS_SIDE, MAX_PIXELS / Math.ceil(width * devicePixelRatio)) / devicePixelRatio,
  );
  const maxRows = Math.max(1, Math.floor(MAX_PARTS / columns.length));
  const height = Math.min(pageHeight, maxHeight, maxRows * (viewport.height - 1));
  const rows = planSteps(height, viewport.height);
  const positions = rows.flatMap((y) => columns.map((x) => ({ x, y })));
  return { width, height, positions };
}

/** Overlapping steps of one pixel less than the viewport: it may end in a fraction of a device pixel. */
function planSteps(length: number, viewport: number): number[] {
  const steps: number[] = [];
  for (let position = 0; position + viewport < length; position += Math.max(1, viewport - 1))
    steps.push(position);
  return [...steps, Math.max(0, length - viewport)];
}
