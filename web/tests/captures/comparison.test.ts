import { expect, test } from 'vitest';
import { labelDifference } from '../../src/app/captures/comparison/comparison';

test.each([
  ['os', 'Operating system'],
  ['storage.local', 'Local storage'],
  ['storage.omitted', 'More names in storage'],
  ['declared.new_checkout', 'new_checkout'],
  ['declared.a.b', 'a.b'],
])('the property %s is shown as %s', (name, label) => {
  const shown = labelDifference({ name, capture: 'a', other: null });
  expect(shown).toEqual({ label, values: ['a', null] });
});

test('browsers are shown by name and version, unless only something else of them differs', () => {
  const describe = (version: number, platform: string) =>
    `Mozilla/5.0 (${platform}) AppleWebKit/537.36 Chrome/${version}.0.0.0 Safari/537.36`;
  const compare = (capture: string, other: string) =>
    labelDifference({ name: 'browser', capture, other }).values;
  const [first, newer] = [describe(140, 'X11'), describe(156, 'X11')];
  expect(compare(first, newer)).toEqual(['Chrome 140', 'Chrome 156']);
  const elsewhere = describe(140, 'Macintosh');
  expect(compare(first, elsewhere)).toEqual([first, elsewhere]);
});
