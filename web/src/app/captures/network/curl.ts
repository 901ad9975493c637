import type { NetworkEntry } from '../../../../generated/api';

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/; // RFC 9110, 5.6.2
const SET_BY_CURL = /^(content-length|connection|transfer-encoding)$/i; // curl sets these
// Characters that could end a paste or move the cursor.
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/g;

/**
 * Format a request as a curl command for a POSIX shell; null if curl can't send it. The request is untrusted text:
 * every word is quoted, and none can act as an option, a file name or a key press.
 */
export function toCurl({ url, method, request }: NetworkEntry): string | null {
  if (!/^https?:\/\//i.test(url)) return null;
  const parts = [`curl --globoff --url ${quoteForShell(url)}`];
  if (method.toUpperCase() !== 'GET' || request?.body)
    parts.push(`--request ${quoteForShell(method.toUpperCase())}`);
  for (const [name, value] of Object.entries(request?.headers ?? {})) {
    if (!HEADER_NAME.test(name) || SET_BY_CURL.test(name)) continue;
    parts.push(`--header ${quoteForShell(`${name}: ${value.replace(CONTROL, ' ')}`)}`);
  }
  if (request?.body) parts.push(`--data-raw ${quoteForShell(request.body)}`);
  return parts.join(' \\\n  ');
}

/** Quote a word for a shell. Control characters become escapes, so that pasting runs nothing. */
export function quoteForShell(text: string): string {
  if (text.search(CONTROL) < 0) return `'${text.replaceAll("'", String.raw`'\''`)}'`;
  const escaped = text
    .replace(/[\\']/g, '\\$&')
    .replaceAll('\n', '\\n')
    .replace(CONTROL, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return `$'${escaped}'`;
}
