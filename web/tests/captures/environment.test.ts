import { expect, test } from 'vitest';
import { listVitals, nameScript } from '../../src/app/captures/environment/environment';

test('web vitals are rated by their thresholds, and those that were not measured are left out', () => {
  const vitals = listVitals({ lcp_ms: 2_500, inp_ms: 201, cls: 0.2501, ttfb_ms: 1_801 });
  expect(vitals.map(({ name, value, rating }) => [name, value, rating])).toEqual([
    ['LCP', '2.50 s', 'good'],
    ['INP', '201 ms', 'needs improvement'],
    ['CLS', '0.25', 'poor'],
    ['TTFB', '1.80 s', 'poor'],
  ]);
  expect(listVitals(undefined)).toEqual([]);
});

test('a script is named by its function and what called it', () => {
  const url = 'https://shop.example/app.js';
  const name = (of: { function?: string; invoker?: string }) =>
    nameScript({ duration_ms: 1, url, function: '', invoker: '', ...of });
  expect(name({ function: 'render', invoker: 'TimerHandler:setTimeout' })).toBe(
    'render from TimerHandler:setTimeout',
  );
  expect(name({ invoker: url })).toBe('Script');
});
