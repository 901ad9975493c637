import { afterEach, describe, expect, test, vi } from 'vitest';

/** The functions as they are on a page of a server with this public URL. */
async function load(publicUrl: string) {
  const boot = { public_url: publicUrl, me: null, filters: [] };
  vi.stubGlobal('document', { getElementById: () => ({ textContent: JSON.stringify(boot) }) });
  vi.resetModules();
  return import('../../src/app/core/navigation/base');
}
afterEach(() => vi.unstubAllGlobals());

describe('at the root', () => {
  test('addresses stay as they are', async () => {
    const { withBase, withoutBase } = await load('https://tickets.example.org');
    expect(['/', '/inbox?x=1'].map(withBase)).toEqual(['/', '/inbox?x=1']);
    expect(['/', '/inbox'].map(withoutBase)).toEqual(['/', '/inbox']);
  });
});

describe('under a path', () => {
  test('addresses have the path', async () => {
    const { withBase } = await load('https://www.example.org/tickets');
    expect(withBase('/')).toBe('/tickets/');
    expect(withBase('/tickets/t-1#c')).toBe('/tickets/tickets/t-1#c');
  });

  test.each([
    ['/tickets', '/'],
    ['/tickets/', '/'],
    ['/tickets/inbox', '/inbox'],
    ['/tickets/tickets/t-1', '/tickets/t-1'],
    ['/ticketsx', null],
    ['/', null],
  ])('%s is the page %s', async (address, page) => {
    const { withoutBase } = await load('https://www.example.org/tickets');
    expect(withoutBase(address)).toBe(page);
  });
});

test('texts link pages and show pictures under the path, as they are stored for the root', async () => {
  vi.stubGlobal('location', new URL('https://www.example.org/tickets/tickets/t-1'));
  await load('https://www.example.org/tickets');
  const { renderMarkdown } = await import('../../src/app/tickets/text/markdown');
  const html = renderMarkdown(
    'T-4K7M2Q9X ![](/api/v1/assets/asset_1/content) [a](/inbox) [b](//x.org/y) [c](#d)',
  );
  expect([...html.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, address]) => address)).toEqual([
    '/tickets/tickets/t-4k7m2q9x',
    '/tickets/api/v1/assets/asset_1/content',
    '/tickets/inbox',
    '//x.org/y',
    '#d',
  ]);
});
