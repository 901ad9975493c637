import { describe, expect, it } from 'vitest';
import {
  chooseAnswer,
  comparePaths,
  isOutdated,
  listCalls,
} from '../../../ticketbox/domain/captures/reproduction/answers.js';
import { isUncertain } from '../../../ticketbox/domain/captures/reproduction/reasons.js';
import { listStreams } from '../../../ticketbox/domain/captures/reproduction/sockets.js';

const API = 'https://api.shop.example';
const listAnswers = (entries: object[]) => listCalls(entries).answered;

/** A call as the HAR file of a capture has it. */
function call(path: string, text: string | undefined, more: object = {}, method = 'GET', body = '') {
  return {
    _resourceType: 'fetch',
    startedDateTime: '2026-11-21T09:30:00.000Z',
    time: 5,
    request: { method, url: API + path, ...(body && { postData: { text: body } }) },
    response: { status: 200, headers: [], content: { size: -1, mimeType: 'application/json', text } },
    ...more,
  };
}

function ask(recorded: ReturnType<typeof listAnswers>, path: string, body: string | null = null) {
  const url = new URL(path, 'http://localhost:3000');
  const found = chooseAnswer(recorded, body === null ? 'GET' : 'POST', url, body);
  if (found) found.taken = true;
  return found?.text;
}

function post(path: string, body: string, text: string) {
  return call(path, text, {}, 'POST', body);
}

describe('recorded answers', () => {
  it('ignore the origin, and repeat the last one', () => {
    const recorded = listAnswers([call('/poll', '1'), call('/other', 'x'), call('/poll', '2')]);
    expect(['/poll', '/poll', '/poll'].map((path) => ask(recorded, path))).toEqual(['1', '2', '2']);
    expect(ask(recorded, '/poll', 'null')).toBeUndefined();
    expect(ask(recorded, '/poll/more')).toBeUndefined();
  });

  it('are not those of calls that the page cancelled, unless there are no others', () => {
    const cancelled = { response: { status: 0, headers: [], content: {} }, _error: 'AbortError: aborted' };
    const recorded = listAnswers([
      call('/items?q=a', undefined, cancelled),
      call('/items?q=ab', 'found'),
      call('/other', undefined, cancelled),
    ]);
    expect(['x', 'ab', 'abc'].map((word) => ask(recorded, `/items?q=${word}`))).toEqual([
      'found',
      'found',
      'found',
    ]);
    const [alone] = recorded.slice(-1);
    expect(chooseAnswer(recorded, 'GET', new URL('http://localhost/other'), null)).toBe(alone);
    expect(alone!.cancelled).toBe(true);
  });

  it('are those of the same place on another day', () => {
    const days = ['/calendar/2026-11', '/week-2026-11', '/day/2026-11-03', '/week/2026-W48'];
    const others = ['/calendar/2027-01', '/week-2027-01', '/day/2026-12-24', '/week/2027-W02'];
    expect(days.map((each, index) => comparePaths(each, others[index]!))).not.toContain(null);
    expect(comparePaths('/v2026-lamps', '/v2027-tables')).toBeNull();
  });

  it('are those of the most similar call', () => {
    const recorded = listAnswers([call('/items?page=1', 'first'), call('/items?page=2', 'second')]);
    expect(['?page=2', '?page=1', '?page=9'].map((query) => ask(recorded, `/items${query}`))).toEqual([
      'second',
      'first',
      'second',
    ]);
    expect(ask(recorded, '/items')).toBeUndefined();
    expect(ask(recorded, '/items?page=2&size=5')).toBeUndefined();
  });

  it.each([
    ['{"code":"[redacted]"}', '{"code":17}', true],
    ['{"code":"SPRING"}', '{"code":"Sample"}', true],
    ['{"code":"SPRING"}', '{"code":""}', false],
    ['{"code":"SPRING"}', '{"code":null}', false],
    ['{"code":"SPRING"}', '{"code":"SPRING","cart":1}', false],
    ['{"count":2}', '{"count":3}', true],
    ['{"count":2}', '{"count":-3}', false],
    ['{"gift":true}', '{"gift":false}', false],
    ['{"sort":"undefined"}', '{"sort":"name"}', false],
    ['{"sort":"name"}', '{"sort":"NaN"}', false],
    ['{"sort":"undefined"}', '{"sort":"undefined"}', true],
    ['{"ids":[1,2]}', '{"ids":[4]}', true],
    ['{"ids":[1,2]}', '{"ids":[]}', false],
    ['[]', '{}', false],
    ['name=A&mail=b', 'name=C&mail=d', true],
    ['name=A&mail=b', 'name=C', false],
    ['hello', 'other text', true],
    ['__proto__=1', '__proto__=2', true],
    ['__proto__=1&constructor=2', '__proto__=1', false],
    ['{"__proto__":{"a":1}}', '{"__proto__":{"a":2}}', true],
    ['{"__proto__":{"a":1}}', '{"constructor":{"a":1}}', false],
  ])('of a body %s match %s: %s', (recorded, sent, isMatch) => {
    expect(ask(listAnswers([post('/pay', recorded, 'ok')]), '/pay', sent) === 'ok').toBe(isMatch);
  });

  it('of calls with names of the language in their query are those of the same names', () => {
    const recorded = listAnswers([call('/items?__proto__=1', 'proto'), call('/items?toString=1', 'text')]);
    expect(['?__proto__=1', '?toString=1'].map((query) => ask(recorded, `/items${query}`))).toEqual([
      'proto',
      'text',
    ]);
    expect(ask(recorded, '/items?valueOf=1')).toBeUndefined();
  });

  it('match ids and what was redacted in a path', () => {
    expect(comparePaths('/orders/1729/', '/orders/4104')).toBe(2);
    expect(comparePaths('/people/per_4f1a9c', '/people/per_8b20e1')).toBe(2);
    expect(comparePaths('/orders/%5Bredacted%5D', '/orders/abc')).toBe(2);
    expect(comparePaths('/orders/1729', '/orders/undefined')).toBeNull();
    expect(comparePaths('/orders/new', '/orders/old')).toBeNull();
  });

  it('leave out calls without a complete answer', () => {
    const response = (status: number, content: object) => ({ response: { status, headers: [], content } });
    const recorded = listAnswers([
      call('/policy', undefined),
      call('/cut', '{', response(200, { text: '{', _omittedReason: 'limit' })),
      call('/pending', undefined, response(0, {})),
      { ...call('/page', '<p>'), _resourceType: 'document' },
      call('/gone', undefined, response(410, {})),
      call('/done', undefined, response(204, {})),
      call('/empty', undefined, response(200, { size: 0 })),
      { ...call('/failed', undefined, response(0, {})), _error: 'net::ERR_FAILED' },
    ]);
    expect(recorded.map(({ url, error }) => [url.pathname, error])).toEqual([
      ['/gone', false],
      ['/done', false],
      ['/empty', false],
      ['/failed', true],
    ]);
  });

  it('of failures are for exactly what failed, if other answers name it', () => {
    const fail = (path: string) =>
      call(path, 'gone', { response: { status: 410, headers: [], content: { text: 'gone' } } });
    const recorded = listAnswers([
      call('/products', '[{"id":21},{"id":24}]'),
      fail('/products/24'),
      fail('/carts/99'),
    ]);
    expect(ask(recorded, '/products/24')).toBe('gone');
    expect(ask(recorded, '/products/21')).toBeUndefined();
    expect(ask(recorded, '/carts/17')).toBe('gone');
  });

  it.each([
    ['what was sent is left out', { _omittedReason: 'policy' }, 422, '{}', true],
    ['what was sent is known', { postData: { text: '{}' } }, 422, '{}', false],
    ['nothing is sent', { _omittedReason: 'policy' }, 422, null, false],
    ['the answer is no failure', { _omittedReason: 'policy' }, 204, '{}', false],
  ])('of failures are uncertain if %s: %s, %i, %s', (_, request, status, sent, uncertain) => {
    const response = { status, headers: [], content: {} };
    const [entry] = listAnswers([
      { ...call('/pay', undefined), request: { method: 'POST', url: `${API}/pay`, ...request }, response },
    ]);
    expect(isUncertain(entry!, sent)).toBe(uncertain);
  });

  it.each([
    ['{"operationName":"Cart","query":"{ a }"}', '{"operationName":"Flags","query":"{ a }"}', false],
    ['{"operationName":"Cart","query":"{ a }"}', '{"operationName":"Cart","query":"{ b }"}', true],
    ['{"jsonrpc":"2.0","id":1,"method":"add"}', '{"jsonrpc":"2.0","id":2,"method":"remove"}', false],
    ['[{"operationName":"A"},{"operationName":"B"}]', '[{"operationName":"A"},{"operationName":"C"}]', false],
    ['{"method":"card"}', '{"method":"cash"}', true],
  ])('of %s for %s: %s', (recorded, sent, matches) => {
    expect(ask(listAnswers([post('/api', recorded, 'x')]), '/api', sent) === 'x').toBe(matches);
  });

  it('have the headers that scripts read, and links only between pages', () => {
    const serve = (link: string) => {
      const headers = Object.entries({ 'X-Total-Count': '45', 'Set-Cookie': 'a=b', Link: link });
      const response = {
        status: 200,
        headers: headers.map(([name, value]) => ({ name, value })),
        content: {},
      };
      const [entry] = listAnswers([
        call('/items', undefined, { response: { ...response, content: { text: '' } } }),
      ]);
      return Object.keys(entry!.headers);
    };
    expect(serve('</items?page=2>; rel="next", </items?page=9>; rel="last"')).toEqual([
      'x-total-count',
      'link',
    ]);
    expect(serve('</items?page=2>; rel=next, <https://other.example/>; rel=preconnect')).toEqual([
      'x-total-count',
    ]);
  });

  it('from before a change that the page already knows of are the last choice', () => {
    const at = (second: number) => ({ startedDateTime: `2026-11-21T09:30:0${second}.000Z` });
    const entries = [
      call('/people/7', '{}', { ...at(1), time: 3_000 }, 'PATCH', '{}'),
      call('/people', 'old', at(2)),
      call('/summary', 'any', at(2)),
      call('/people', 'new', at(5)),
    ];
    const recorded = listAnswers(entries);
    const [change, old] = recorded;
    expect(isOutdated(old!, recorded)).toBe(false);
    change!.served = true;
    expect(recorded.map((each) => isOutdated(each, recorded))).toEqual([false, true, false, false]);
    expect([ask(recorded, '/people'), ask(recorded, '/people')]).toEqual(['new', 'new']);
    const alone = listAnswers(entries.slice(0, 2));
    alone[0]!.served = true;
    expect(ask(alone, '/people')).toBe('old');
  });
});

it('streams are served if all their messages are complete', () => {
  const message = (type: string, more: object = {}) => ({ type, time: 1, data: '{}', opcode: 1, ...more });
  const stream = (type: string, ...messages: object[]) => ({
    _resourceType: type,
    _webSocketMessages: messages,
    request: { url: `${API}/live` },
  });
  const found = listStreams([
    stream('websocket', message('send'), message('receive')),
    stream('websocket', message('send')),
    stream('eventsource', message('receive'), message('receive', { _omittedReason: 'limit' })),
    { _resourceType: 'eventsource', request: { url: `${API}/live` } },
    call('/live', '{}'),
  ]);
  expect(found.map(({ type, path }) => [type, path])).toEqual([['websocket', '/live']]);
});
