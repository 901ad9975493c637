import { expect, test } from 'vitest';
import { nameKey, TypingDetector, type KeyPlace } from '../../src/recorder/actions/keys';

function press(key: string, place: KeyPlace, held: Partial<KeyboardEvent> = {}): string | null {
  const none = { ctrlKey: false, altKey: false, shiftKey: false, metaKey: false };
  const event = { key, getModifierState: () => false, ...none, ...held };
  return nameKey(event as unknown as KeyboardEvent, place);
}

test.each([
  ['j', 'page', {}, 'J'],
  ['j', 'control', {}, 'J'],
  ['j', 'field', {}, null],
  ['j', 'reacting field', {}, null],
  ['J', 'page', { shiftKey: true }, 'Shift+J'],
  ['?', 'page', { shiftKey: true }, '?'],
  ['s', 'field', { ctrlKey: true }, 'Ctrl+S'],
  [' ', 'page', {}, 'Space'],
  [' ', 'control', {}, null],
  [' ', 'field', {}, null],
  ['Enter', 'field', {}, 'Enter'],
  ['ArrowDown', 'field', {}, null],
  ['ArrowDown', 'reacting field', {}, 'ArrowDown'],
  ['Backspace', 'reacting field', {}, 'Backspace'],
  ['Delete', 'page', {}, 'Delete'],
  ['é', 'page', {}, null],
  ['Shift', 'page', {}, null],
] as [string, KeyPlace, object, string | null][])('%s in a %s with %j is %s', (key, place, held, name) => {
  expect(press(key, place, held)).toBe(name);
});

test('several different characters in a row are text, not shortcuts', () => {
  const typing = new TypingDetector();
  expect(['G', 'I', 'G', 'G'].map((key, index) => typing.isTyping(key, index * 100))).not.toContain(true);
  expect(typing.isTyping('H', 400)).toBe(true);
  expect(typing.isTyping('H', 1_900)).toBe(false); // after a pause
  expect(['ArrowDown', 'ArrowUp', 'Delete'].map((key) => typing.isTyping(key, 2_000))).not.toContain(true);
});
