import { expect, test } from 'vitest';
import { formatDuration, formatPlayingTime, hostOf, shortenUrl } from '../../src/app/captures/format';

test.each([
  [0, '0 ms'],
  [0.4, '0 ms'],
  [250.4, '250 ms'],
  [1_500, '1.50 s'],
  [12_340, '12.3 s'],
  [120_000, '2.0 min'],
  [-1_500, '−1.50 s'],
])('formatDuration(%d)', (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});

test.each([
  ['https://shop.example/static/app.js:10:4', 'app.js:10:4'],
  ['https://shop.example/api/cart?page=2', 'cart?page=2'],
  ['https://shop.example/api/cart/', 'cart'],
  ['https://shop.example/', '/'],
  ['https://shop.example', 'https://shop.example'],
  ['https://shop.example/a?next=/b/c', 'a?next=/b/c'],
])('shortenUrl(%s)', (url, text) => {
  expect(shortenUrl(url)).toBe(text);
});

test.each([
  [100, '0:01'],
  [17_900, '0:18'],
  [119_600, '2:00'],
])('formatPlayingTime(%d)', (ms, text) => {
  expect(formatPlayingTime(ms)).toBe(text);
});

test('hostOf includes the port', () => {
  expect(hostOf('https://shop.example:8443/x')).toBe('shop.example:8443');
  expect(hostOf('app.js')).toBe('');
});
