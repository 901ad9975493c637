import { describe, expect, it } from 'vitest';
import {
  createMatcher,
  isSamePath,
  listReplaced,
} from '../../../ticketbox/domain/captures/reproduction/failures.js';
import { listCalls } from '../../../ticketbox/domain/captures/reproduction/answers.js';
import rules from '../../../ticketbox/domain/captures/messages.json';

const NOTHING = {
  errors: [],
  console_errors: [],
  failed_requests: [],
  background: [],
  place: null,
  browser: null,
};
const SEEN = { errors: [], printed: [], failed_requests: [] };
const REPLACED = ['Xxxx Xxxxxb', 'Sample', 'Sa', '3'];

describe('messages', () => {
  it.each([
    ['Order 12 is lost', 'Order 7 is lost', true],
    ['The results of “l” are shown for “lamp”', 'The results of “Sa” are shown for “Sample”', true],
    ['The results of “l” are shown for “lamp”', 'The results of “Sa” are kept for “Sample”', false],
    ['No customer Anna Müller in the cart', 'No customer Xxxx Xxxxxb in the cart', true],
    [
      "Cannot read properties of null (reading 'name')",
      "Cannot read properties of null (reading 'id')",
      false,
    ],
    ['Sales are closed today', 'Sales are open today', false], // a short sample counts only in quotes
    ['anything', 'Sample', false], // too little would be compared
    ['Failed (a+b) for lamp [x]', 'Failed (a+b) for Sample [x]', true],
  ])('%s, seen as %s', (captured, seen, same) => {
    expect(createMatcher(NOTHING, rules, REPLACED).isSame(captured, seen)).toBe(same);
  });

  it('are compared with samples and stand-ins replaced', () => {
    const text = JSON.stringify({ name: 'Xxxx Xxxxxb', status: 'open', max: 'Max', id: 1001 });
    const { answered } = listCalls([
      {
        _resourceType: 'fetch',
        startedDateTime: '2026-11-21T09:30:00.000Z',
        time: 5,
        request: { method: 'GET', url: 'https://shop.example/people' },
        response: { status: 200, headers: [], content: { mimeType: 'application/json', text } },
      },
    ]);
    const expected = {
      steps: [{ typed: ['Sample'] }, { typed: [] }],
      errors: [{ name: 'Error', message: 'No order of Anna Müller' }],
    };
    const replaced = listReplaced(expected, answered);
    expect(replaced).toEqual(['Xxxx Xxxxxb', 'Sample']);
    const { findBug } = createMatcher({ ...NOTHING, ...expected }, rules, replaced);
    const see = (message: string) => ({
      ...SEEN,
      errors: [{ name: 'Error', message, stack: '', frames: [] }],
    });
    expect(findBug(see('No order of Xxxx Xxxxxb'))).toContain('Xxxx');
    expect(findBug(see('No order of Bo Ek'))).toBeNull();
  });
});

it('captured text that is no address, and requests that the run refused, are never found', () => {
  const failed = { method: 'GET', status: null, error: 'net::ERR_FAILED' };
  const match = (url: string, error: string) => {
    const requests = ['https://[bad', url].map((each) => ({ ...failed, url: each }));
    const matcher = createMatcher({ ...NOTHING, failed_requests: requests }, rules, []);
    const seen = { ...SEEN, failed_requests: [{ ...failed, url: 'http://localhost/pay', error }] };
    return { bug: matcher.findBug(seen), refused: matcher.findRefused(seen) };
  };
  expect(match('https://shop.example/pay', 'net::ERR_FAILED').bug).toContain('/pay');
  expect(match('https://shop.example/other', 'net::ERR_FAILED').bug).toBeNull();
  const refused = 'net::ERR_BLOCKED_BY_CLIENT.Inspector';
  expect(match('https://shop.example/pay', refused)).toEqual({ bug: null, refused: 'localhost' });
  expect(match('https://shop.example/other', refused).refused).toBeNull();
});

describe('paths', () => {
  it.each([
    ['/orders/1729', '/orders/4104', true],
    ['/orders/', '/orders', true],
    ['/products/arc-lamp', '/products/xxx-xxxb', true], // a stand-in of a name
    ['/search/lamp', '/search/Sample', true],
    ['/orders', '/login', false],
    ['/orders/1729', '/orders', false],
    ['/orders/new', '/orders/undefined', false],
    ['/100%', '/100%', true],
  ])('%s, seen as %s', (captured, seen, same) => {
    expect(isSamePath(captured, seen, REPLACED)).toBe(same);
  });
});
