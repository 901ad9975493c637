import { beforeEach, expect, test, vi } from 'vitest';
import { CostMeter } from '../../src/recorder/replay/cost-meter';
import { maskText, removeMedia } from '../../src/recorder/replay/masking';
import { Redactor } from '../../src/recorder/redaction/redactor';
import { redactTexts } from '../../src/recorder/replay/redact-texts';
import { MAX_CHARACTERS, Segments } from '../../src/recorder/replay/segments';

const read = (segments: Segments, time: number) => JSON.parse(segments.read(time)) as unknown[];

test('a value beside its label is redacted', () => {
  const nodes = ['Password:', '\n', 'hunter2x', 'Order 4711a'].map((textContent) => ({ textContent }));
  redactTexts(nodes, new Redactor());
  expect(nodes.map((node) => node.textContent)).toEqual(['Password:', '\n', '[redacted]', 'Order 4711a']);
});

test('a replay begins with the newest full snapshot that is early enough', () => {
  const segments = new Segments(30_000);
  segments.add('0', 0, false); // nothing can begin with it
  segments.add('1', 0, true);
  segments.add('2', 20_000, false);
  segments.add('3', 35_000, true);
  segments.add('4', 64_000, false);
  expect(read(segments, 64_999)).toEqual([1, 2, 3, 4]);
  expect(read(segments, 65_000)).toEqual([3, 4]);
  expect(segments.startedAt).toBe(35_000);
  expect(segments.isCut).toBe(false);
});

test('with too many changes, the oldest segment is dropped, and then the newest waits for the next snapshot', () => {
  const large = `"${'x'.repeat(MAX_CHARACTERS / 2)}"`;
  const segments = new Segments(120_000);
  segments.add('1', 0, true);
  segments.add(large, 0, false);
  segments.add('2', 40_000, true);
  segments.add(large, 40_000, false);
  expect(segments.isCut).toBe(true);
  expect(read(segments, 40_000)[0]).toBe(2);
  segments.add(large, 50_000, false);
  segments.add('3', 50_000, false);
  expect(read(segments, 50_000)).toEqual([]);
  segments.add('4', 70_000, true);
  segments.add('5', 70_000, false);
  expect(read(segments, 70_000)).toEqual([4, 5]);
});

test('the next segment is due when changes fill half of the room, and more than a snapshot would', () => {
  const third = `"${'x'.repeat(MAX_CHARACTERS / 3)}"`;
  const segments = new Segments(120_000);
  expect(segments.isLarge).toBe(false);
  segments.add('1', 0, true);
  segments.add('2', 0, false);
  segments.add(third, 0, false);
  expect(segments.isLarge).toBe(false);
  segments.add(third, 0, false);
  expect(segments.isLarge).toBe(true);
  segments.add('3', 10_000, true);
  segments.add(third, 10_000, false); // its snapshot
  expect(segments.isLarge).toBe(false);
  // dropping the first leaves the next one
  segments.add(third, 20_000, false);
  expect([segments.isCut, read(segments, 20_000)[0], segments.isLarge]).toEqual([true, 3, false]);
  segments.add(third.slice(0, 200) + '"', 20_000, false);
  expect(segments.isLarge).toBe(true);
});

test('masks reveal lengths up to 10 characters, and keep the space between elements', () => {
  expect([maskText('abc'), maskText('a longer text'), maskText('\n  '), maskText('')]).toEqual([
    '***',
    '**********',
    '\n  ',
    '',
  ]);
});

test('pictures and fonts in events are removed, and nothing else', () => {
  const data = 'A'.repeat(2_000);
  const event = JSON.stringify({
    src: `data:image/png;base64,${data}`,
    css: `url("data:font/woff2,${data}") x`,
  });
  expect(JSON.parse(removeMedia(event))).toEqual({ src: 'data:,', css: 'url("data:,") x' });
  const small = JSON.stringify({ src: 'data:image/gif;base64,R0lG', text: `data: ${data}` });
  expect(removeMedia(small)).toBe(small);
});

let time = 0;
let observers: (() => void)[] = [];

beforeEach(() => {
  time = 0;
  observers = [];
  vi.stubGlobal('document', {});
  vi.stubGlobal(
    'MutationObserver',
    class {
      constructor(listener: () => void) {
        observers.push(listener);
      }
      observe() {}
      disconnect() {}
    },
  );
});

/** A recorder that needs `share` of each second, and what its meter says after some seconds. */
function record(share: number, seconds: number): number | null {
  time = 0;
  observers = [];
  let excessAt: number | null = null;
  const meter = new CostMeter(
    () => (excessAt ??= time),
    () => time,
  );
  meter.enclose(() => (time += share));
  for (let second = 1; second <= seconds && excessAt === null; second += 1) {
    time = second * 1_000;
    observers[0]!();
    time += share * 1_000;
    meter.measure(() => {}); // an event within the recorder's work isn't counted twice
    observers[1]!();
  }
  return excessAt;
}

test('a recorder may need 2 % of the main thread', () => {
  expect(record(0.019, 100)).toBeNull();
});

test('a recorder that needs more for two windows in a row is stopped', () => {
  expect(record(0.03, 100)).toBeGreaterThanOrEqual(20_000);
  expect(record(0.03, 100)).toBeLessThan(25_000);
});

test('a recorder that needs more than a second of ten is stopped immediately', () => {
  expect(record(0.6, 100)).toBeLessThan(3_000);
});

test('time between two changes isn’t counted, whichever observer the browser calls', async () => {
  let excess = false;
  const meter = new CostMeter(
    () => (excess = true),
    () => time,
  );
  meter.enclose(() => {});
  observers[0]!();
  await Promise.resolve();
  time = 60_000;
  observers[1]!();
  meter.measure(() => {});
  expect(excess).toBe(false);
});
