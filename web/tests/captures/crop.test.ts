import { expect, test } from 'vitest';
import type { SavedMark } from '../../src/shared/annotation/marks';
import { cropAroundMarks } from '../../src/shared/annotation/crop';

const PAGE = { width: 1000, height: 800 };

function box(x: number, y: number, width: number, height: number): SavedMark {
  return { id: '1', kind: 'rectangle', geometry: { x, y, width, height }, color: '#e5484d', text: '' };
}

test('the crop is around the marks, with the frame’s shape', () => {
  const { left, top, width } = cropAroundMarks([box(400, 300, 100, 50), box(550, 350, 50, 50)], PAGE, 0.6);
  expect(width).toBeCloseTo(0.35);
  expect(left).toBeCloseTo(0.5 - 0.175);
  expect(top).toBeCloseTo(0.35 - 0.105);
});

test('a crop at the edge stays in the picture', () => {
  const corner = cropAroundMarks([box(980, 780, 20, 20)], PAGE, 0.6);
  expect(corner.left).toBeCloseTo(0.65);
  expect(corner.top).toBeCloseTo(0.8 - 0.35 * 0.6);
  expect(cropAroundMarks([box(0, 0, 10, 10)], PAGE, 0.6)).toMatchObject({ left: 0, top: 0 });
});

test('marks that are far apart leave the one that is shown largest', () => {
  const small = box(900, 100, 50, 50);
  expect(cropAroundMarks([box(0, 600, 600, 100), small], PAGE, 0.6)).toEqual(
    cropAroundMarks([small], PAGE, 0.6),
  );
});

test('without marks the crop is the top of the page', () => {
  expect(cropAroundMarks([], PAGE, 0.6)).toEqual({ left: 0, top: 0, width: 1 });
});

test('what was removed is nothing to look at', () => {
  const removed: SavedMark = { ...box(0, 600, 300, 100), kind: 'redact' } as SavedMark;
  const mark = box(900, 100, 50, 50);
  expect(cropAroundMarks([removed, mark], PAGE, 0.6)).toEqual(cropAroundMarks([mark], PAGE, 0.6));
});

test('an arrow counts as what it points at', () => {
  const geometry = { x1: 0, y1: 0, x2: 500, y2: 400 };
  const arrow: SavedMark = { id: '2', kind: 'arrow', geometry, color: '#e5484d', text: '' };
  expect(cropAroundMarks([arrow], PAGE, 0.6).left).toBeCloseTo(0.5 - 0.175);
});
