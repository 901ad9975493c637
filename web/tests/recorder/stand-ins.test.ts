import { describe, expect, test } from 'vitest';
import type { Expectation, NetworkEntry } from '../../src/recorder/capture-types';
import {
  exchangeExpectation,
  listComputed,
  listNumbers,
  shapeWithStandIns,
  StandIns,
} from '../../src/recorder/redaction/stand-ins';
import { shapeBodies } from '../../src/recorder/redaction/body-shape';

const at = (selector: string) => ({
  role: null,
  name: null,
  test_id: null,
  text: null,
  selectors: [selector],
});
const standIns = new StandIns([
  ['Ann Archer', 'Xxx Xxxxxx'],
  ['40', '12'],
  ['1299', '1003'],
  ['1234.5', '1001.7'],
  ['Lamp', 'Xxxx'],
]);

describe('a text with stand-ins', () => {
  test.each([
    ['Ann Archer', 'Xxx Xxxxxx'],
    ['Hello Ann Archer!', 'Hello Xxx Xxxxxx!'],
    ['Lamp, Lamps', 'Xxxx, Lamps'],
    ['40.00 €', '12.00 €'],
    ['40,0', '12,0'],
    ['12.99 $', '10.03 $'], // an answer has cents
    ['1.234,50 €', '1.001,70 €'],
    ['Save', 'Save'],
  ])('%s becomes %s', (text, exchanged) => {
    expect(standIns.exchange(text)).toEqual({ text: exchanged, computed: [] });
  });

  test('keeps numbers that no answer has, and names them', () => {
    expect(standIns.exchange('2 of 80.00')).toEqual({ text: '2 of 80.00', computed: ['2', '80.00'] });
    expect(new StandIns([['Lamp', 'Xxxx']]).exchange('2')).toEqual({ text: '2', computed: [] });
  });
});

describe('an expectation', () => {
  const expectation: Expectation = { is: 'text', target: at('#total'), seen: '40.00 €' };

  test('compares stand-ins, and shows what the person read', () => {
    const { seen, right, shown } = exchangeExpectation({ ...expectation, right: '12.99 €' }, standIns);
    expect([seen, right]).toEqual(['12.00 €', '10.03 €']);
    expect(shown).toEqual({ seen: '40.00 €', right: '12.99 €' });
  });

  test('says only what is wrong where the test can’t know what is right', () => {
    const { seen, right, shown } = exchangeExpectation({ ...expectation, right: '80.00 €' }, standIns);
    expect([seen, right]).toEqual(['12.00 €', null]);
    expect(shown).toEqual({ seen: '40.00 €', right: null });
  });

  test('stays as it is where no answer has its texts', () => {
    const own: Expectation = { ...expectation, seen: 'Sav', right: 'Save' };
    expect(exchangeExpectation(own, standIns)).toBe(own);
    const checked: Expectation = { is: 'checked', target: at('#a'), right: 'false' };
    expect(exchangeExpectation(checked, standIns)).toBe(checked);
  });

  test('that something is absent finds it by its stand-in', () => {
    const target = at('li:nth-of-type(2):has-text("Lamp")');
    const { target: found } = exchangeExpectation({ is: 'absent', target, seen: 'Lamp' }, standIns);
    expect(found?.selectors).toEqual(['li:nth-of-type(2):has-text("Xxxx")']);
  });
});

test('a value becomes what the server makes of its stand-in', () => {
  const record = () =>
    [
      { url: 'https://shop.example/cart', response: { body: '{"items":[{"name":"Desk lamp","price":40}]}' } },
    ] as NetworkEntry[];
  const sent = record();
  const exchanged = shapeWithStandIns(sent).exchange('Desk lamp: 40.00 €').text;
  shapeBodies(sent); // as the server does
  const { items } = JSON.parse(sent[0]!.response!.body!) as { items: { name: string; price: number }[] };
  const { name, price } = items[0]!;
  expect(exchanged).toBe(`${name}: ${price.toFixed(2)} €`);
  expect(exchanged).not.toContain('40');
});

test('a person can keep the numbers of answers', () => {
  const record = () =>
    [
      {
        id: 'r1',
        ts: 10,
        method: 'GET',
        url: 'https://shop.example/cart?a=1',
        response: { body: '{"price":40,"n":"2"}' },
      },
      {
        id: 'r2',
        ts: 20,
        method: 'GET',
        url: 'https://shop.example/user',
        response: { body: '{"age":51,"id":12345678}' },
      },
    ] as NetworkEntry[];
  expect(listNumbers(record(), 15)).toEqual([{ id: 'r1', name: 'GET /cart', numbers: ['40', '2'] }]);
  expect(listNumbers(record(), 20).map(({ numbers }) => numbers)).toEqual([['51'], ['40', '2']]);
  const expectation: Expectation = { is: 'text', target: at('#total'), seen: '40.00 €', right: '80.00 €' };
  expect(listComputed(expectation, shapeWithStandIns(record()))).toEqual(['80.00']);
  const sent = record();
  const standIns = shapeWithStandIns(sent, ['r1']);
  expect(exchangeExpectation(expectation, standIns)).toBe(expectation);
  expect(listComputed(expectation, standIns)).toEqual([]);
  shapeBodies(sent, ['r1']); // as the server does
  expect(sent.map(({ response }) => response!.body)).toEqual([
    '{"price":40,"n":"2"}',
    expect.not.stringContaining('51'),
  ]);
});
