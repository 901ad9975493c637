import { expect, test } from 'vitest';
import { nameBrowser, nameSystem } from '../../src/app/captures/environment/browsers';

const WEBKIT = 'AppleWebKit/537.36 (KHTML, like Gecko)';

test.each([
  [`Mozilla/5.0 (X11; Linux x86_64) ${WEBKIT} Chrome/142.0.0.0 Safari/537.36`, 'Chrome 142', 'Linux'],
  [`Mozilla/5.0 (X11; Linux x86_64) ${WEBKIT} HeadlessChrome/156.0.0.0 Safari/537.36`, 'Chrome 156', 'Linux'],
  [
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${WEBKIT} Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0`,
    'Edge 142',
    'Windows',
  ],
  [
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:140.0) Gecko/20100101 Firefox/140.0',
    'Firefox 140',
    'macOS',
  ],
  [
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/605.1.15',
    'Safari 18',
    'macOS',
  ],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/142.0 Safari/604.1',
    'Chrome 142',
    'iOS',
  ],
  [
    `Mozilla/5.0 (Linux; Android 15) ${WEBKIT} Chrome/142.0.0.0 Mobile Safari/537.36`,
    'Chrome 142',
    'Android',
  ],
])('%s', (userAgent, browser, system) => {
  expect(nameBrowser(userAgent)).toBe(browser);
  expect(nameSystem(userAgent, 'Linux x86_64')).toBe(system);
});

test.each([
  ['Mozilla/5.0 (X11; Linux) NetSurf/3.11', 'NetSurf 3'],
  [`Mozilla/5.0 (X11; Linux x86_64) ${WEBKIT} Version/26 Mobile/15 Ladybird/1.0`, 'Ladybird 1'],
  ['Lynx/2.9.2 libwww-FM/2.14', 'Lynx 2'],
  ['Mozilla/5.0 (compatible)', 'Unknown browser'],
  ['x'.repeat(200), 'Unknown browser'],
])('%s, of a browser that is not known, is short', (userAgent, browser) => {
  expect(nameBrowser(userAgent)).toBe(browser);
});

test('a text that is no user agent stays as it is', () => {
  expect(nameBrowser('Chrome 131')).toBe('Chrome 131');
  expect(nameSystem('Chrome 131', 'Win32')).toBe('Windows');
  expect(nameSystem('… Windows NT 10.0 …', 'Windows 11')).toBe('Windows 11');
  expect(nameSystem(null, 'macOS 15')).toBe('macOS 15');
});
