import { describe, expect, test } from 'vitest';
import { addPointed, removeExpectation } from '../../src/extension/draft/edit-expectations';
import type { Draft } from '../../src/extension/storage';
import type { Expectation } from '../../src/recorder/capture-types';
import { chooseCorner } from '../../src/recorder/pointing/choose-corner';

const view = { width: 1000, height: 700 };

describe('the card beside an element', () => {
  const card = { width: 320, height: 300 };
  const place = (x: number, y: number, width = 100, height = 20) =>
    chooseCorner({ x, y, width, height }, card, view);

  test('is to the right, else to the left, else below, else above', () => {
    expect(place(100, 50)).toEqual([208, 50]);
    expect(place(700, 50)).toEqual([372, 50]);
    expect(place(100, 50, 800)).toEqual([100, 78]);
    expect(place(100, 600, 800)).toEqual([100, 292]);
  });

  test('stays in the window, whatever the element is', () => {
    expect(place(100, 690)).toEqual([208, 392]);
    expect(place(0, 0, 1000, 700)).toEqual([8, 8]);
    expect(place(-900, -500)).toEqual([8, 8]);
  });
});

describe('what a person pointed at', () => {
  const expectation: Expectation = { is: 'absent', at: 1 };
  const draft = { envelope: { environment: { viewport: view } } } as unknown as Draft;
  const add = (box: object | null, picture: object | null) =>
    addPointed(draft, { expectation, box } as never, picture as never);

  test('has a mark in the screenshot, in its pixels', () => {
    const { expectations, marks } = add(
      { x: -10, y: 20, width: 60, height: 30 },
      { width: 2000, height: 1400 },
    );
    expect(expectations).toEqual([expectation]);
    expect(marks?.map(({ kind, geometry }) => [kind, geometry])).toEqual([
      ['rectangle', { x: 0, y: 40, width: 100, height: 60 }],
    ]);
    const own = { ...marks![0]!, text: 'mine' };
    const without = removeExpectation(
      { ...draft, expectations: [expectation], marks: [own, ...marks!] },
      expectation,
    );
    expect([without.expectations, without.marks]).toEqual([[], [own]]);
  });

  test('has none where the screenshot doesn’t show the place', () => {
    const box = { x: 10, y: 20, width: 60, height: 30 };
    expect(add(null, view).marks).toBeUndefined(); // the page was scrolled
    expect(add(box, null).marks).toBeUndefined();
    expect(add(box, { width: 1000, height: 3000 }).marks).toBeUndefined(); // the full page
    expect(add({ ...box, y: 900 }, view).marks).toBeUndefined();
  });
});
