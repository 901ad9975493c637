import { expect, test } from 'vitest';
import { RingBuffer } from '../../src/recorder/ring-buffer';

test('the newest entries are kept and the others counted', () => {
  const buffer = new RingBuffer<number>(3);
  for (let entry = 1; entry <= 10; entry += 1) buffer.push(entry);
  expect(buffer.entries).toEqual([8, 9, 10]);
  expect([buffer.last, buffer.dropped]).toEqual([10, 7]);
});

test('entries are dropped until the rest has the allowed weight', () => {
  const buffer = new RingBuffer<string>(10, 5);
  for (const entry of ['aa', 'bb', 'ccc']) buffer.push(entry, entry.length);
  expect(buffer.entries).toEqual(['bb', 'ccc']);
  buffer.push('dddddd', 6);
  expect([buffer.entries, buffer.last, buffer.dropped]).toEqual([[], undefined, 4]);
});
