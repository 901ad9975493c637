import { expect, test } from 'vitest';
import { isComposing, readLatinKey } from '../../src/shared/keyboard';

/** A key as a browser reports it. */
const press = (key: string, code: string, more: Partial<KeyboardEvent> & { capsLock?: boolean } = {}) =>
  ({ key, code, shiftKey: false, getModifierState: () => more.capsLock ?? false, ...more }) as KeyboardEvent;

test.each([
  ['k', press('k', 'KeyK')],
  ['K', press('K', 'KeyK', { shiftKey: true })],
  ['k', press('л', 'KeyK')],
  ['K', press('Л', 'KeyK', { shiftKey: true })],
  ['c', press('ש', 'KeyC')],
  ['c', press('C', 'KeyC', { capsLock: true })],
  ['C', press('c', 'KeyC', { capsLock: true, shiftKey: true })],
  ['a', press('a', 'KeyQ')],
  ['é', press('é', 'Digit2')],
  ['/', press('/', 'Digit7', { shiftKey: true })],
  ['?', press('?', 'Slash', { shiftKey: true })],
  ['Enter', press('Enter', 'Enter', { capsLock: true })],
])('the key is %s', (name, event) => {
  expect(readLatinKey(event)).toBe(name);
});

test('keys of a conversion are known in every browser', () => {
  expect(isComposing({ isComposing: true, keyCode: 13 } as KeyboardEvent)).toBe(true);
  expect(isComposing({ isComposing: false, keyCode: 229 } as KeyboardEvent)).toBe(true);
  expect(isComposing({ isComposing: false, keyCode: 13 } as KeyboardEvent)).toBe(false);
});
