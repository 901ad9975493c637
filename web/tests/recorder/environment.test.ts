import { expect, test } from 'vitest';
import type { Environment } from '../../src/recorder/capture-types';
import { addDeclaredValues } from '../../src/recorder/environment/declared-values';
import { listCookieNames } from '../../src/recorder/environment/storage-names';
import { Redactor } from '../../src/recorder/redaction/redactor';

test('cookies without a name are left out, because their text is their value', () => {
  expect(listCookieNames('theme=dark; 8f3a99b1c2d4; =x; cart=a=b')).toEqual(['theme', 'cart']);
  expect(listCookieNames('')).toEqual([]);
});

test('what a page declares is checked, and its release is preferred to the one in its meta element', () => {
  const old = { release: '1' } as Environment;
  const values = [['__release', '2'], ['__flags.a', 'true'], ['broken'], 7, ['number', 1]];
  expect(addDeclaredValues(old, values)).toEqual({
    release: '2',
    declared: { '__flags.a': 'true' },
  });
  expect(addDeclaredValues(old, { length: 3 })).toEqual({ release: '1', declared: {} });
});

// tests/http/captures/test_environment.py has the same cases for the server
test('secrets in an environment are redacted', () => {
  const key = 'AKIAIOSFODNN7EXAMPLQ';
  const redactor = new Redactor(['customer_ref']);
  const script = {
    duration_ms: 1,
    url: `https://shop.example/app.js?key=${key}`,
    function: '',
    invoker: key,
  };
  const { long_frames, declared, storage } = redactor.redactEnvironment({
    long_frames: [{ ts: 1, duration_ms: 60, blocking_ms: 10, scripts: [script] }],
    declared: { '__flags.on': 'true', '__flags.api_token': '8f3a99b1c2d4', customer_ref: '998', key },
    storage: { local: ['cart', `user:${key}`], session: [], cookies: [key], omitted: 0 },
  } as Partial<Environment> as Environment);
  expect(long_frames![0]!.scripts).toEqual([
    { ...script, url: 'https://shop.example/app.js?key=[redacted]', invoker: '[redacted]' },
  ]);
  expect(declared).toEqual({
    '__flags.on': 'true',
    '__flags.api_token': '[redacted]',
    customer_ref: '[redacted]',
    key: '[redacted]',
  });
  expect(storage).toMatchObject({ local: ['cart', 'user:[redacted]'], cookies: ['[redacted]'] });
  expect(redactor.counts.extra).toBe(1);
});
