import { expect, test } from 'vitest';
import { withNatives } from '../../src/recorder/natives/restore-natives';

test('replaced functions are the original ones meanwhile, and the page’s own again afterwards', () => {
  const own = () => 'page';
  const original = Object.getOwnPropertyDescriptor(String.prototype, 'blink')!;
  Object.defineProperty(String.prototype, 'blink', { ...original, value: own });
  expect(withNatives(() => 'a'.blink())).toBe('<blink>a</blink>');
  expect('a'.blink()).toBe('page');
  Object.defineProperty(String.prototype, 'blink', original);
});

test('what a page removed from an object that it closed stays removed', () => {
  delete (Date.prototype as { toGMTString?: unknown }).toGMTString;
  Object.preventExtensions(Date.prototype);
  expect(withNatives(() => 'toGMTString' in Date.prototype)).toBe(false);
});
