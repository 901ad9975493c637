import type { Box } from './find-element';

type Size = Pick<Box, 'width' | 'height'>;

const GAP = 8;

/** The corner of a card beside a box: to the right, to the left, below or above it, within the window. */
export function chooseCorner(box: Box, card: Size, view: Size): [x: number, y: number] {
  const keepIn = (place: number, size: number, most: number) =>
    Math.max(GAP, Math.min(place, most - size - GAP));
  const right = box.x + box.width + GAP;
  const beside = keepIn(box.y, card.height, view.height);
  if (right + card.width + GAP <= view.width && right >= 0) return [right, beside];
  const left = box.x - card.width - GAP;
  if (left >= GAP && left + card.width <= view.width) return [left, beside];
  const below = box.y + box.height + GAP;
  const fitsBelow = below + card.height + GAP <= view.height;
  return [
    keepIn(box.x, card.width, view.width),
    keepIn(fitsBelow ? below : box.y - card.height - GAP, card.height, view.height),
  ];
}
