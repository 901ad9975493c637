import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { chooseKey, rememberLost } from '../../src/app/core/server/repeated-requests';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('only what is sent again after its answer was lost has the same key', () => {
  const key = chooseKey('a');
  expect(key).toMatch(UUID);
  expect(chooseKey('a')).not.toBe(key);
  rememberLost('a', key);
  expect(chooseKey('b')).not.toBe(key);
  expect(chooseKey('a')).toBe(key);
  expect(chooseKey('a')).not.toBe(key); // it was answered
});

test('who sends the same much later means something new', () => {
  rememberLost('a', 'key');
  vi.advanceTimersByTime(11 * 60_000);
  expect(chooseKey('a')).not.toBe('key');
});
