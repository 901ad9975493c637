import { expect, test } from 'vitest';
import { ConsoleMeters } from '../../src/recorder/console/console-meters';

test('a counter counts from where it was reset', () => {
  const meters = new ConsoleMeters();
  expect(meters.describeCall('count', ['a'])).toEqual(['a: 1']);
  expect(meters.describeCall('count', ['a'])).toEqual(['a: 2']);
  meters.start('countReset', 'a');
  expect(meters.describeCall('count', ['a'])).toEqual(['a: 1']);
  expect(meters.describeCall('count', [])).toEqual(['default: 1']);
});

test('a timer that ended prints nothing more', () => {
  const meters = new ConsoleMeters();
  meters.start('time', 'a');
  expect(meters.describeCall('timeLog', ['a', 5])).toEqual([expect.stringMatching(/^a: \d+\.\d ms$/), 5]);
  expect(meters.describeCall('timeEnd', ['a'])).toHaveLength(1);
  expect(meters.describeCall('timeEnd', ['a'])).toBeNull();
});

test('labels without end aren’t all remembered', () => {
  const meters = new ConsoleMeters();
  for (let label = 0; label < 1_000; label += 1) meters.describeCall('count', [`a${label}`]);
  expect(meters.describeCall('count', ['one more'])).toEqual(['one more']);
  meters.start('time', 'one more');
  expect(meters.describeCall('timeEnd', ['one more'])).toBeNull();
  expect(meters.describeCall('count', ['a999'])).toEqual(['a999: 2']);
});
