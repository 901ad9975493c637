import { describe, expect, test } from 'vitest';
import { suggestReport } from '../../src/extension/pages/popup/draft/suggest-report';
import type { Draft } from '../../src/extension/storage';

const step = (ts: number, kind: string, fields: object = {}) => ({
  seq: ts,
  ts,
  kind,
  target: null,
  ...fields,
});
const pay = { role: 'button', name: 'Pay', selectors: ['#pay'] };
const failure = (ts: number) => ({ seq: ts, ts, kind: 'error', name: 'TypeError', message: 'no cart' });

function suggest(actions: object[], errors: object[] = [], fields: object = {}) {
  const envelope = { page: { url: 'https://shop.example/cart', title: 'Cart' } };
  return suggestReport({
    envelope,
    streams: { console: [], network: [], errors, actions },
    ...fields,
  } as unknown as Draft);
}

describe('suggestReport', () => {
  test('lists the steps, and names the error after what caused it', () => {
    const { title, steps } = suggest(
      [
        step(1, 'navigate', { url: 'https://shop.example/cart' }),
        step(5_000, 'scroll'),
        step(6_000, 'click', { target: pay }),
        step(6_100, 'submit', { target: { role: 'form' } }),
        step(9_000, 'input', { target: { role: 'textbox', name: 'Note' }, value_kind: 'text 1–10' }),
      ],
      [failure(6_200)],
    );
    expect(title).toBe('TypeError after clicking “Pay”');
    expect(steps).toEqual(['Opened /cart', 'Clicked button “Pay”', 'Typed 1–10 characters into “Note”']);
  });

  test('without steps, or with synthetic ones, suggests the page’s title', () => {
    const plain = { title: 'Cart', steps: [] };
    expect(suggest([])).toEqual(plain);
    expect(suggest([step(1, 'navigate', { url: 'https://shop.example/' })], [failure(2)])).toEqual(plain);
    expect(suggest([step(1, 'click', { target: pay, synthetic: true })], [failure(2)])).toEqual(plain);
  });

  test('what the person pointed at is the title, whatever failed', () => {
    const target = { role: 'cell', name: null, test_id: null, text: 'Total', selectors: [] };
    const expectations = [{ is: 'text', target, seen: '40.00 €', right: '80.00 €' }];
    const { title, steps } = suggest([step(1, 'click', { target: pay })], [failure(2)], { expectations });
    expect(title).toBe('“Total” should be “80.00 €”; it was “40.00 €”');
    expect(steps).toEqual(['Clicked button “Pay”']);
  });

  test('without an error, the title is the page’s', () => {
    expect(suggest([step(1, 'click', { target: pay })])).toEqual({
      title: 'Cart',
      steps: ['Clicked button “Pay”'],
    });
  });

  test('an error before the first step isn’t attributed to a step', () => {
    expect(suggest([step(9, 'click', { target: pay })], [failure(2)]).title).toBe('TypeError: no cart');
  });

  test.each([
    ['key', { key: 'Enter', target: { name: 'Search' } }, 'pressing Enter in “Search”'],
    ['key', { key: 'Ctrl+S' }, 'pressing Ctrl+S'],
    ['change', { target: { name: 'Country' }, value_kind: 'option' }, 'changing “Country”'],
    ['click', { target: { role: 'img', selectors: ['main > svg'] } }, 'clicking image main > svg'],
    ['input', { target: { role: 'textbox' }, value_kind: 'private' }, 'typing into a private field'],
  ])('%s %j is a cause', (kind, fields, words) => {
    expect(suggest([step(1, kind, fields)], [failure(2)]).title).toBe(`TypeError after ${words}`);
  });
});
