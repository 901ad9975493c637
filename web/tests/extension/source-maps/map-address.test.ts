import { beforeEach, expect, test, vi } from 'vitest';
import { mayLoad } from '../../../src/extension/source-maps/map-address';

const PAGE = 'https://shop.example/cart';
let granted: string[] = [];

beforeEach(() => {
  granted = [];
  const contains = ({ origins }: { origins: string[] }) =>
    Promise.resolve(granted.includes('*') || origins.every((each) => granted.includes(each)));
  vi.stubGlobal('chrome', { permissions: { contains } });
});

test('the page’s own origin is loaded, another only with permission', async () => {
  expect(await mayLoad('https://shop.example/app.js.map', PAGE)).toBe(true);
  expect(await mayLoad('https://cdn.example/app.js.map', PAGE)).toBe(false);
  granted = ['https://cdn.example/*'];
  expect(await mayLoad('https://cdn.example/app.js.map', PAGE)).toBe(true);
  expect(await mayLoad('https://shop.example:8443/app.js.map', PAGE)).toBe(false);
});

test.each([
  'http://shop.example/app.js.map',
  'https://user:secret@shop.example/app.js.map',
  'file:///etc/passwd',
  'chrome-extension://abc/app.js.map',
  'javascript:alert(1)',
  'https://localhost/a.map',
  'https://router/a.map',
  'https://printer.local/a.map',
  'https://127.0.0.1/a.map',
  'https://2130706433/a.map',
  'https://10.1.2.3/a.map',
  'https://172.20.0.1/a.map',
  'https://192.168.1.1/a.map',
  'https://169.254.169.254/latest/meta-data',
  'https://[::1]/a.map',
  'https://[::ffff:10.0.0.1]/a.map',
  'not an address',
])('a page on the internet doesn’t reach %s, also with permission for all sites', async (address) => {
  granted = ['*'];
  expect(await mayLoad(address, PAGE)).toBe(false);
});

test('a page of an internal network reaches another host of one with permission', async () => {
  expect(await mayLoad('http://127.0.0.1:5173/a.map', 'http://localhost:3000/')).toBe(false);
  granted = ['http://127.0.0.1/*'];
  expect(await mayLoad('http://127.0.0.1:5173/a.map', 'http://localhost:3000/')).toBe(true);
});
