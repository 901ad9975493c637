import { describe, expect, test } from 'vitest';
import { describeFrame } from '../../src/app/captures/console/frames';
import type { Frame } from '../../generated/api';

const frame = (original?: object): Frame =>
  ({ url: 'https://shop.example/assets/app.js', function: 'p', line: 1, column: 41, original }) as Frame;

describe('frames of a stack', () => {
  test("are shown in the author's file, with the lines around them", () => {
    const context = ['a', 'cart = JSON.parse(text)', 'c'];
    const original = { file: 'src/cart.js', line: 2, column: 13, context };
    expect(describeFrame(frame(original), false)).toEqual({
      name: 'p',
      place: 'src/cart.js:2:13',
      title: 'https://shop.example/assets/app.js:1:41',
      lines: [
        { number: 1, before: 'a', marked: '', after: '', isCurrent: false },
        { number: 2, before: 'cart = JSON.', marked: 'parse', after: '(text)', isCurrent: true },
        { number: 3, before: 'c', marked: '', after: '', isCurrent: false },
      ],
    });
    const further = describeFrame(frame({ ...original, line: 60 }), false);
    expect(further.lines.map(({ number }) => number)).toEqual([58, 59, 60]);
    const beyond = describeFrame(frame({ ...original, column: 99 }), false);
    expect(beyond.lines[1]).toMatchObject({ before: context[1], marked: '', after: '' });
  });

  test('are shown in the bundle without an original, or on request', () => {
    const generated = { name: 'p', place: 'app.js:1:41', lines: [] };
    expect(describeFrame(frame(), false)).toMatchObject(generated);
    expect(describeFrame(frame({ file: 'a', line: 1, column: 1, context: [] }), true)).toMatchObject(
      generated,
    );
    expect(describeFrame({ ...frame(), function: null }, false).name).toBe('(anonymous)');
  });
});
