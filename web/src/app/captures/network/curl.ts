import type { NetworkEntry } from '../../../../generated/api';

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/; // RFC 9110, 5.6.2
const OWN = /^(content-length|connection|transfer-encoding)$/i; // curl's own business
// What could end a paste, or move the cursor.
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/g;

/**
 * The request as a command for a POSIX shell. What a page sent is somebody else's text: every word is quoted, and
 * none can be taken for an option, a file or a key press. Null for what curl can't send.
 */
export function curl({ url, method, request }: NetworkEntry): string | null {
  if (!/^https?:\/\//i.test(url)) return null;
  const parts = [`curl --globoff --url ${quoted(url)}`];
  if (method.toUpperCase() !== 'GET' || request?.body)
    parts.push(`--request ${quoted(method.toUpperCase())}`);
  for (const [name, value] of Object.entries(request?.headers ?? {})) {
    if (!TOKEN.test(name) || OWN.test(name)) continue;
    parts.push(`--header ${quoted(`${name}: ${value.replace(CONTROL, ' ')}`)}`);
  }
  if (request?.body) parts.push(`--data-raw ${quoted(request.body)}`);
  return parts.join(' \\\n  ');
}

/** One word of a shell. Control characters are written as escapes, so that pasting runs nothing by itself. */
export function quoted(text: string): string {
  if (text.search(CONTROL) < 0) return `'${text.replaceAll("'", String.raw`'\''`)}'`;
  const escaped = text
    .replace(/[\\']/g, '\\$&')
    .replaceAll('\n', '\\n')
    .replace(CONTROL, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return `$'${escaped}'`;
}
