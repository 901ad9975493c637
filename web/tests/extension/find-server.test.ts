import { afterEach, expect, test, vi } from 'vitest';
import { findServer } from '../../src/extension/connection/find-server';

const METADATA = '/.well-known/oauth-authorization-server';

/** A site with a ticketbox at an address, whose other pages redirect, and with an issuer at its root. */
function serve(address: string, issuer = address): string[] {
  const requests: string[] = [];
  vi.stubGlobal('fetch', (url: string) => {
    requests.push(url);
    if (url === address + METADATA) return Promise.resolve(Response.json({ issuer }));
    if (url.startsWith(`${address}/`)) return Promise.resolve(Response.error()); // as a redirect: the status is 0
    if (url.startsWith('https://www.example.org/app/'))
      return Promise.resolve(new Response('<!doctype html>'));
    return Promise.resolve(Response.json({ detail: 'page not found' }, { status: 404 }));
  });
  return requests;
}
afterEach(() => vi.unstubAllGlobals());

test.each(['', '/projects/proj_1', '/tickets/t-1/network'])('finds a server above %j', async (page) => {
  serve('https://www.example.org/tickets');
  expect(await findServer(`https://www.example.org/tickets${page}`)).toBe('https://www.example.org/tickets');
});

test('finds a server at the root, under pages that another application answers', async () => {
  serve('https://www.example.org');
  expect(await findServer('https://www.example.org/app/x')).toBe('https://www.example.org');
});

test('asks once for an address without a path', async () => {
  const requests = serve('https://elsewhere.example');
  await expect(findServer('https://www.example.org')).rejects.toThrow('page not found');
  expect(requests).toHaveLength(1);
});

test('refuses a server that has another address', async () => {
  serve('http://127.0.0.1:8420', 'http://localhost:8420');
  await expect(findServer('http://127.0.0.1:8420')).rejects.toThrow(
    'The public URL of this ticketbox is http://localhost:8420. Enter that URL.',
  );
});

test('stops where nothing answers', async () => {
  vi.stubGlobal('fetch', () => Promise.reject(new TypeError('network')));
  await expect(findServer('https://www.example.org/a/b')).rejects.toThrow('Couldn’t reach www.example.org.');
});
