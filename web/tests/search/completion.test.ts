import { describe, expect, test } from 'vitest';
import type { Filter } from '../../src/app/core/server/boot';
import { complete, filterAt, toCodeUnits, type Value } from '../../src/app/search/completion';

const FILTERS: Filter[] = [
  { key: 'priority', about: 'Priority', takes: 'value', values: ['none', 'low', 'medium', 'high', 'urgent'] },
  { key: 'project', about: 'Project', takes: 'project', values: [] },
  { key: 'label', about: 'Label', takes: 'label', values: [] },
  { key: 'created', about: 'Created', takes: 'time', values: ['>7d'] },
];
const LABELS: Value[] = [{ value: 'ui' }, { value: 'check out' }, { value: 'a "b"' }, { value: 'build' }];

/** Complete at the `|` in a text. Returns the text after each completion is inserted. */
function completions(marked: string, values: Value[] = []): string[] {
  const caret = marked.indexOf('|');
  const text = marked.replace('|', '');
  return complete(FILTERS, text, caret, values).items.map(
    ({ insert, start, end }) => text.slice(0, start) + insert + text.slice(end),
  );
}

describe('filters', () => {
  test('a word completes to the filters that start with it', () => {
    expect(completions('cart pr|')).toEqual(['cart priority:', 'cart project:']);
    expect(completions('-LAB|')).toEqual(['-label:']);
    expect(completions('ui|')).toEqual([]);
  });

  test('a word in quotes is a phrase', () => {
    expect(completions('"pr|')).toEqual([]);
  });

  test('the caret decides which term is completed', () => {
    expect(completions('la| cart')).toEqual(['label: cart']);
    expect(completions('la |cart')[0]).toBe('la priority:cart');
  });
});

describe('values', () => {
  test('starts with all values of a filter', () => {
    expect(completions('priority:|')).toEqual(
      ['none', 'low', 'medium', 'high', 'urgent'].map((value) => `priority:${value} `),
    );
  });

  test('prefers values that start with the text', () => {
    expect(completions('label:u|', LABELS)).toEqual(['label:ui ']);
    expect(completions('label:b|', [{ value: 'a b' }, { value: 'build' }])).toEqual([
      'label:build ',
      'label:"a b" ',
    ]);
  });

  test('quotes values with spaces or quotes', () => {
    const quoted = String.raw`label:"a \"b\"" `;
    const all = ['label:ui ', 'label:"check out" ', quoted, 'label:build '];
    expect(completions('label:|', LABELS)).toEqual(all);
    expect(completions('label:"check|', LABELS)).toEqual(['label:"check out" ']);
    expect(completions(String.raw`label:"a \"b|`, LABELS)).toEqual([quoted]);
    expect(completions(String.raw`label:"a \"b\""|`, LABELS)).toEqual([]);
  });

  test('continues a list with values that are not used and need no quotes', () => {
    expect(completions('label:ui,|', LABELS)).toEqual(['label:ui,build ']);
  });

  test('searches the words of hints', () => {
    expect(completions('label:top|', [{ value: 'ui', hint: 'for the desktop' }])).toEqual([]);
    expect(completions('label:desk|', [{ value: 'ui', hint: 'for the desktop' }])).toEqual(['label:ui ']);
  });

  test('offers nothing for a complete value', () => {
    expect(completions('priority:high|')).toEqual([]);
    expect(completions('label:"check out"|', LABELS)).toEqual([]);
  });

  test('adds no second space', () => {
    expect(completions('priority:hi| cart')).toEqual(['priority:high cart']);
  });

  test('offers at most eight', () => {
    const many = Array.from({ length: 20 }, (_, index) => ({ value: `label-${index}` }));
    expect(completions('label:|', many)).toHaveLength(8);
  });

  test('describes relative times', () => {
    expect(complete(FILTERS, 'created:', 8, []).items[0]!.hint).toBe('in the last 7 days');
  });

  test('reports that the caret is in a value', () => {
    expect(complete(FILTERS, 'priority:h', 10, []).inValue).toBe(true);
    expect(complete(FILTERS, 'prio', 4, []).inValue).toBe(false);
  });
});

test('filterAt finds the filter at the caret', () => {
  expect(filterAt(FILTERS, 'cart label:u', 12)?.key).toBe('label');
  expect(filterAt(FILTERS, 'cart label:u', 3)).toBeUndefined();
  expect(filterAt(FILTERS, 'unknown:u', 9)).toBeUndefined();
});

test('toCodeUnits counts characters outside the basic plane twice', () => {
  expect(toCodeUnits('🧺 cart', 2)).toBe(3);
});
