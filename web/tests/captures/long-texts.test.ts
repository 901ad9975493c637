import { expect, test } from 'vitest';
import { countFitting, joinLine, ROW_LENGTH } from '../../src/app/captures/parts/long-texts';

test('a line of any length is cut for its row', () => {
  expect(joinLine(['a', 'b'])).toBe('a b');
  expect(joinLine([])).toBe('');
  const texts = Array.from({ length: 1_000 }, () => '<a '.repeat(80_000));
  expect(joinLine(texts)).toHaveLength(ROW_LENGTH + 1);
  expect(joinLine(['x'.repeat(ROW_LENGTH)])).toBe('x'.repeat(ROW_LENGTH));
});

test('as many values are shown as fit, and at least one', () => {
  expect(countFitting(['aa', 'bb', 'cc'], 4)).toBe(2);
  expect(countFitting(['aaaaa', 'b'], 4)).toBe(1);
  expect(countFitting(['a'], 4)).toBe(1);
  expect(countFitting([], 4)).toBe(0);
});
