import { describe, expect, it } from 'vitest';
import { buildAddress } from '../../../ticketbox/domain/captures/reproduction/boundary.js';
import {
  buildAnswer,
  followRedirects,
  listCalls,
} from '../../../ticketbox/domain/captures/reproduction/answers.js';

const BASE = 'http://localhost:3000/app';

describe('a recorded path', () => {
  it.each([
    ['/', '/'],
    ['/cart?id=7#top', '/cart?id=7#top'],
    ['/cart?next=//evil.example', '/cart?next=//evil.example'],
    ['/%2f..%2f/evil.example', '/%2f..%2f/evil.example'],
    ['/%5Cevil.example', '/%5Cevil.example'],
    ['/a/../b', '/b'],
    ['/@evil.example:80', '/@evil.example:80'],
  ])('%s is opened in the application', (path, opened) => {
    expect(buildAddress(path, BASE).href).toBe(`http://localhost:3000${opened}`);
  });

  it.each([
    '//evil.example/',
    '/\\evil.example/',
    '\\\\evil.example/',
    '///evil.example/',
    '/\t/evil.example/',
    '\t//evil.example/',
    ' //evil.example/',
    '/..//evil.example/',
    '/%2e%2e//evil.example/',
    '/a\\..\\\\evil.example',
    'https:evil.example',
    'http://evil.example/',
    'http://user:password@evil.example/',
    '//user@evil.example/',
    'javascript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    ':8080/',
    '@evil.example',
    'cart',
    '',
  ])('%j is refused', (path) => {
    expect(() => buildAddress(path, BASE)).toThrow("isn't a path of the application");
  });
});

/** A recorded call with an answer. */
function call(
  method: string,
  path: string,
  status: number,
  text: string,
  location = '',
  headers: object[] = [],
) {
  return {
    _resourceType: 'fetch',
    startedDateTime: '2026-11-21T09:30:00.000Z',
    time: 5,
    request: { method, url: `https://api.shop.example${path}` },
    response: { status, headers, content: { mimeType: 'text/plain', text }, redirectURL: location },
  };
}

const request = { headers: () => ({}) };
const follow = (...entries: object[]) => {
  const { answered } = listCalls(entries);
  return buildAnswer(followRedirects(answered, answered[0]!, null).at(-1)!, request);
};

describe('recorded redirects', () => {
  it.each([
    ['GET', 302, '/next', 'GET'],
    ['POST', 302, 'https://other.example/next', 'GET'],
    ['POST', 303, '//other.example/next', 'GET'],
    ['POST', 307, '/next', 'POST'],
    ['PUT', 308, 'next', 'PUT'],
  ])('of %s with %i to %s lead to the recorded %s', (method, status, location, next) => {
    const answer = follow(call(method, '/first', status, '', location), call(next, '/next', 200, 'found'));
    expect([answer.status, answer.body]).toEqual([200, 'found']);
  });

  it.each(['/unknown', 'http://', 'javascript:alert(1)', '/first'])('to %s say nothing', (location) => {
    expect(() => follow(call('GET', '/first', 302, '', location))).toThrow("isn't in the capture");
  });

  it('are never served, nor is what no page can get', () => {
    for (const status of [101, 300, 302, 304]) {
      const text = status === 304 ? '' : 'text';
      const { answered } = listCalls([call('GET', '/first', status, text)]);
      expect(() => buildAnswer(answered[0]!, request)).toThrow(`status ${status} can't be served`);
    }
    expect(follow(call('GET', '/first', 304, 'kept'))).toMatchObject({ status: 200, body: 'kept' });
  });
});

it('only headers that scripts read are served', () => {
  const names = [
    ...['Content-Language', 'ETag', 'Last-Modified', 'X-Total-Count', 'Retry-After', 'Content-Range'],
    ...[
      'Location',
      'Refresh',
      'Link',
      'Set-Cookie',
      'Clear-Site-Data',
      'Report-To',
      'Reporting-Endpoints',
      'NEL',
    ],
    ...['Content-Security-Policy', 'Service-Worker-Allowed', 'SourceMap', 'X-SourceMap', 'X-Frame-Options'],
    ...['X-Content-Type-Options', 'X-DNS-Prefetch-Control', 'Alt-Svc', 'Content-Disposition', '__proto__'],
  ];
  const headers = names.map((name) => ({ name, value: 'x' }));
  expect(Object.keys(follow(call('GET', '/', 200, '', '', headers)).headers)).toEqual([
    ...names.slice(0, 6).map((name) => name.toLowerCase()),
    'content-type',
    'access-control-allow-origin',
    'access-control-allow-credentials',
    'access-control-expose-headers',
  ]);
});
