import { expect, test } from 'vitest';
import { planParts } from '../../src/extension/full-page/plan';

const PAGE = {
  minX: 0,
  width: 1000,
  height: 800,
  viewport: { width: 1000, height: 800 },
  devicePixelRatio: 1,
};

test('a page that fits the viewport has one part', () => {
  expect(planParts(PAGE)).toEqual({ width: 1000, height: 800, positions: [{ x: 0, y: 0 }] });
});

test('parts overlap by one pixel, and the last one ends at the bottom', () => {
  const { positions, height } = planParts({ ...PAGE, height: 2000 });
  expect(positions.map(({ y }) => y)).toEqual([0, 799, 1200]);
  expect(height).toBe(2000);
});

test('a right-to-left page starts at its negative scroll position', () => {
  const { positions } = planParts({ ...PAGE, minX: -500, width: 1500 });
  expect(positions.map(({ x }) => x)).toEqual([-500, 0]);
});

test('a page is planned row by row', () => {
  const { positions } = planParts({ ...PAGE, width: 1500, height: 1500 });
  expect(positions).toEqual([
    { x: 0, y: 0 },
    { x: 500, y: 0 },
    { x: 0, y: 700 },
    { x: 500, y: 700 },
  ]);
});

test.each([
  ['the side of a canvas', { width: 100, viewport: { width: 100, height: 800 } }, 32_767],
  ['the number of pixels', { width: 4000, viewport: { width: 4000, height: 800 } }, 12_250],
  ['the number of parts', { viewport: { width: 1000, height: 100 } }, 60 * 99],
])('the height is limited by %s', (_, fields, height) => {
  expect(planParts({ ...PAGE, height: 1_000_000, ...fields }).height).toBe(height);
});

test('limits apply to device pixels', () => {
  const { width, height } = planParts({ ...PAGE, width: 20_000, height: 100_000, devicePixelRatio: 2 });
  expect(width).toBe(4000);
  expect(width * height * 4).toBeLessThanOrEqual(49_000_000);
});
