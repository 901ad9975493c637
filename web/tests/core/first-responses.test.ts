import { beforeEach, expect, test, vi } from 'vitest';

const ADDRESS = 'http://localhost/api/v1/projects';
const asked: string[] = [];

/** Load the module in a page that preloads one address. */
async function openPage() {
  vi.resetModules();
  vi.stubGlobal('document', { querySelectorAll: () => [{ href: ADDRESS }] });
  return import('../../src/app/core/server/first-responses');
}

beforeEach(() => {
  asked.length = 0;
  vi.stubGlobal('fetch', async (request: string | Request) => {
    asked.push(typeof request === 'string' ? request : `${request.method} ${request.url}`);
    return new Response(`{"answer": ${asked.length}}`, { status: 203 });
  });
  vi.spyOn(performance, 'now').mockReturnValue(0);
});

test('what the page preloads is given once, and is fetched again after that', async () => {
  const { fetchOnce, waitForFirstResponses } = await openPage();
  await waitForFirstResponses(60_000);
  const first = await fetchOnce(new Request(ADDRESS));
  expect([first.status, await first.json(), await first.text()]).toEqual([
    203,
    { answer: 1 },
    '{"answer": 1}',
  ]);
  expect(await (await fetchOnce(new Request(ADDRESS))).json()).toEqual({ answer: 2 });
  expect(asked).toEqual([ADDRESS, `GET ${ADDRESS}`]);
});

test.each([
  ['another address', new Request('http://localhost/api/v1/tickets'), 0],
  ['a write', new Request(ADDRESS, { method: 'POST' }), 0],
  ['an old page', new Request(ADDRESS), 10_000],
])('%s gets nothing that was preloaded', async (_, request, now) => {
  const { fetchOnce } = await openPage();
  vi.spyOn(performance, 'now').mockReturnValue(now);
  expect(await (await fetchOnce(request)).json()).toEqual({ answer: 2 });
});

test('waiting ends while a response is missing or after it failed', async () => {
  vi.stubGlobal('fetch', () => new Promise(() => undefined));
  await (await openPage()).waitForFirstResponses(1);
  vi.stubGlobal('fetch', async () => Promise.reject(new TypeError('offline')));
  const { fetchOnce, waitForFirstResponses } = await openPage();
  await waitForFirstResponses(60_000);
  await expect(fetchOnce(new Request(ADDRESS))).rejects.toThrow('offline');
});
