import { expect, test } from 'vitest';
import { formatBytes, formatCount, hueOf, initials, joinWords } from '../../src/app/ui/display/format';

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [1_000, '1.0 kB'],
  [15_400, '15 kB'],
  [1_500_000, '1.5 MB'],
  [2_000_000_000, '2.0 GB'],
  [5_000_000_000_000, '5000 GB'],
])('formatBytes(%d)', (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text);
});

test('formatCount uses the singular for one', () => {
  expect(formatCount(1, 'entry', 'entries')).toBe('1 entry');
  expect(formatCount(1200, 'entry', 'entries')).toBe('1,200 entries');
});

test('joinWords puts "and" before the last word', () => {
  expect([[], ['a'], ['a', 'b'], ['a', 'b', 'c']].map(joinWords)).toEqual(['', 'a', 'a and b', 'a, b and c']);
});

test('initials are of the first and the last name', () => {
  expect(['Ann', 'ann b. clark', ' Éva  Ó ', '🧺 x', ''].map(initials)).toEqual(['A', 'AC', 'ÉÓ', '🧺X', '']);
});

test('hueOf is never the violet of agents', () => {
  const hues = Array.from({ length: 1_000 }, (_, index) => hueOf(`label ${index}`, 90));
  expect(hues.filter((hue) => hue >= 280 && hue < 345)).toEqual([]);
  expect(Math.max(...hues)).toBeGreaterThan(345);
});

test('hueOf is the same for the same text, and in degrees', () => {
  expect(hueOf('ui', 90)).toBe(hueOf('ui', 90));
  expect(hueOf('ui', 90)).not.toBe(hueOf('ux', 90));
  expect(hueOf('a very long label', 90)).toBeLessThan(360);
});
