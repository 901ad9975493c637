import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { isOwnPage } from '../../src/extension/background/senders';

const OWN = 'chrome-extension://abcdefghijklmnopabcdefghijklmnop';
const TAB = { id: 7 } as chrome.tabs.Tab;
const page = { id: 'own', url: `${OWN}/popup.html`, origin: OWN };

beforeEach(() => {
  vi.stubGlobal('chrome', { runtime: { id: 'own', getURL: (path: string) => `${OWN}/${path}` } });
});
afterEach(() => vi.unstubAllGlobals());

test('pages of the extension may send messages', () => {
  expect(isOwnPage(page)).toBe(true);
  expect(isOwnPage({ ...page, origin: undefined })).toBe(true);
  expect(isOwnPage({ ...page, tab: TAB, frameId: 0, url: `${OWN}/options.html` })).toBe(true);
});

test.each([
  [
    'a content script',
    { id: 'own', url: 'https://shop.example/', origin: 'https://shop.example', tab: TAB, frameId: 0 },
  ],
  ['a content script with a forged address', { ...page, origin: 'https://shop.example' }],
  ['a content script with a forged origin', { ...page, url: 'https://shop.example/' }],
  ['a page whose address begins alike', { id: 'own', url: `${OWN}.example/`, origin: `${OWN}.example` }],
  ['an opaque origin', { ...page, origin: 'null' }],
  ['a frame in another page', { ...page, tab: TAB, frameId: 3 }],
  ['another extension', { ...page, id: 'other' }],
  ['nobody', {}],
])('%s may not', (_, sender) => {
  expect(isOwnPage(sender)).toBe(false);
});
