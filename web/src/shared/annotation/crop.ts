import { markBounds } from './geometry';
import type { Box, Shape, Size } from './marks';

/** A part of a picture, as shares of the picture's width. */
export interface Crop {
  left: number;
  top: number;
  width: number;
}

const MARGIN = 1.6; // around the marks, as a factor
const LEAST_SHARE = 0.35; // of the width: less of it is too coarse
const LEGIBLE_SHARE = 0.6; // of the width: in more of it, nobody can read the text

/**
 * Choose the part of a picture that a frame shows: around the marks of the captured screenshot, or around the one that
 * is shown largest if the text is too small with all of them; the top of the page, in full width, without any.
 * `ratio` is the frame's height as a share of its width.
 */
export function cropAroundMarks(marks: Shape[], screenshot: Size, ratio: number): Crop {
  const boxes = marks.filter(({ kind }) => kind !== 'redact').map(findMarkedBox);
  if (boxes.length === 0) return { left: 0, top: 0, width: 1 };
  const all = cropAroundBoxes(boxes, screenshot, ratio);
  if (boxes.length === 1 || all.width <= LEGIBLE_SHARE) return all;
  const single = boxes.map((box) => cropAroundBoxes([box], screenshot, ratio));
  return single.reduce((best, each) => (each.width < best.width ? each : best));
}

/** What a mark is around; for an arrow, what it points at. */
function findMarkedBox(mark: Shape): Box {
  if (mark.kind !== 'arrow') return markBounds(mark);
  return { x: mark.geometry.x2, y: mark.geometry.y2, width: 0, height: 0 };
}

function cropAroundBoxes(boxes: Box[], { width: across, height }: Size, ratio: number): Crop {
  const left = Math.min(...boxes.map(({ x }) => x)) / across;
  const right = Math.max(...boxes.map((box) => box.x + box.width)) / across;
  const top = Math.min(...boxes.map(({ y }) => y)) / across;
  const bottom = Math.max(...boxes.map((box) => box.y + box.height)) / across;
  const wanted = Math.max((right - left) * MARGIN, ((bottom - top) * MARGIN) / ratio, LEAST_SHARE);
  const width = Math.min(wanted, 1);
  const lowest = Math.max(0, height / across - width * ratio);
  return {
    left: Math.min(Math.max(0, (left + right - width) / 2), 1 - width),
    top: Math.min(Math.max(0, (top + bottom - width * ratio) / 2), lowest),
    width,
  };
}
