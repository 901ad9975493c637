import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { quoteForShell, toCurl } from '../../src/app/captures/network/curl';
import { request } from './entries';

/** The words that bash makes of a command. */
function words(command: string): string[] {
  const script = `set -- ${command}\nprintf '%s\\0' "$@"`;
  return execFileSync('bash', ['--norc', '-c', script], { encoding: 'utf8', env: { LC_ALL: 'C.UTF-8' } })
    .split('\0')
    .slice(0, -1);
}

describe('toCurl', () => {
  test('formats a simple request', () => {
    expect(toCurl(request(0))).toBe("curl --globoff --url 'https://shop.example/'");
  });

  test('formats method, headers and body', () => {
    const entry = request(0, {
      method: 'post',
      request: { headers: { 'Content-Type': 'application/json', 'Content-Length': '9' }, body: '{"a": 1}' },
    } as never);
    expect(words(toCurl(entry)!)).toEqual([
      ...['curl', '--globoff', '--url', 'https://shop.example/', '--request', 'POST'],
      ...['--header', 'Content-Type: application/json', '--data-raw', '{"a": 1}'],
    ]);
  });

  test.each(['ftp://shop.example/', 'file:///etc/passwd', '-o/tmp/x', 'data:text/plain,x'])(
    'returns null for %s',
    (url) => {
      expect(toCurl(request(0, { url }))).toBeNull();
    },
  );

  test('omits invalid header names, and keeps control characters out of values', () => {
    const headers = { 'bad name': 'x', 'x-good': 'a\r\nx-evil: 1' };
    const command = toCurl(request(0, { request: { headers } } as never))!;
    expect(words(command)).toContain('x-good: a  x-evil: 1');
    expect(command).not.toContain('bad name');
  });
});

describe('quoteForShell', () => {
  test.each([
    "it's",
    '$(id)',
    '`id`',
    '"; rm -rf / #',
    '!!',
    'a\\b',
    'line\nbreak',
    "\x1b[2J'\\",
    'Größe 🧺',
  ])('bash reads %j as one word', (text) => {
    expect(words(quoteForShell(text))).toEqual([text]);
  });

  test('has no raw control characters', () => {
    expect(quoteForShell('\n\x1b\x07\u0085')).toMatch(/^[ -~]*$/);
  });
});
