/** Where the value of a secret key stands in a text; the server's ticketbox/domain/captures/redaction/secret_scanner.py, rule for rule. */
import { compact } from './names';

export const REDACTED = '[redacted]';
/** A quote in any of the disguises that JSON, forms and HTML give it. */
export const QUOTE = String.raw`(?:\\{0,32}(?:["'\x60]|u002[27])|%(?:25){0,3}2[27]|&quot;|&#3[49];)`;

export interface Span {
  start: number;
  end: number;
  instead: string;
}

const WHOLE_LINE = new Set(['cookie', 'setcookie', 'authorization', 'proxyauthorization']);
const STRONG = ['pass', 'pwd', 'secret'];
const HARMLESS = new Set([
  '',
  'null',
  'undefined',
  'true',
  'false',
  'none',
  'nan',
  '[redacted]',
  '%5bredacted%5d',
]);
const QUOTES = /(?<!\\)(\\*)(["'`])/g;
const NESTING = /(?<!\\)(\\*)(["'`])|[[\]{}]/g;
const BARE =
  /(?:[^\s&"'`<>\\,;)\]}]|[,;)\]}](?![\s,;)\]}"'`<>&\\]|$)|["'`](?=[\p{L}\p{N}_])|\\(?![\s"'`\\nrtu]|$))+/uy;
const LINE = /[^\r\n"<>\\]+/y;
const ELEMENT = /[^<]+/y;
const OPENING = new RegExp(QUOTE, 'iy');

/** Where the value that begins here starts and ends, and what replaces it; null to leave it. */
export function valueAt(text: string, at: number, key: string, quote: string, sign: string): Span | null {
  let start = at;
  while (text[start] === ' ' || text[start] === '\t') start += 1;
  const spaced = ' \t'.includes(text[start - 1]!);
  const opened = matchAt(OPENING, text, start);
  if (opened) {
    start += opened.length;
    const end = closing(text, start, opened);
    return isHarmless(text.slice(start, end)) ? null : { start, end, instead: REDACTED };
  }
  const instead = sign.trim() === '' ? REDACTED : `${quote}${REDACTED}${quote}`;
  const name = compact(key);
  const plain = sign === '>' ? ELEMENT : !quote && WHOLE_LINE.has(name) ? LINE : BARE;
  if (text.startsWith(REDACTED, start)) {
    const rest = matchAt(plain, text, start + REDACTED.length);
    return rest ? { start, end: start + REDACTED.length + rest.length, instead } : null;
  }
  if (text[start] === '{' || text[start] === '[') {
    const end = nestedEnd(text, start, quote);
    const rest = quote ? null : matchAt(plain, text, end);
    return { start, end: end + (rest?.length ?? 0), instead };
  }
  const bare = matchAt(plain, text, start);
  if (!bare) return null;
  const found = bare.trim().toLowerCase();
  const count = /^\d+$/.test(found) && (found.length < 3 || name.endsWith('tokens'));
  if (count || HARMLESS.has(found) || (name === 'code' && found.length < 12)) return null;
  // "token: expired" is a message about a token, not a token
  const word = spaced && found.length <= 16 && /^[a-z]+$/.test(found);
  if (word && !quote && !STRONG.some((part) => name.includes(part))) return null;
  return { start, end: start + bare.length, instead };
}

function matchAt(pattern: RegExp, text: string, at: number): string | null {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? null;
}

function isHarmless(value: string): boolean {
  return HARMLESS.has(value.trim().toLowerCase());
}

/** Where a quoted value ends. Each layer of JSON doubles the backslashes before a quote. */
function closing(text: string, start: number, opened: string): number {
  const mark = opened.at(-1)!;
  if (!'"\'`'.includes(mark)) {
    const end = text.indexOf(opened, start);
    return end < 0 ? text.length : end;
  }
  const layer = opened.length; // one more than its backslashes
  QUOTES.lastIndex = start;
  for (let match = QUOTES.exec(text); match; match = QUOTES.exec(text)) {
    const backslashes = match[1]!.length;
    if (match[2] === mark && backslashes % (2 * layer) < layer)
      return QUOTES.lastIndex - 1 - (backslashes % (2 * layer));
  }
  return text.length;
}

/** Where an object or array ends; at the end of the text when it was cut. */
function nestedEnd(text: string, start: number, quote: string): number {
  const layer = /["']$/.test(quote) ? quote.length : 1;
  const marks = quote.endsWith('"') ? '"' : '"\'`';
  let depth = 0;
  let position = start;
  for (;;) {
    NESTING.lastIndex = position;
    const match = NESTING.exec(text);
    if (!match) return text.length;
    position = NESTING.lastIndex;
    const mark = match[2];
    if (mark === undefined) {
      depth += '{['.includes(match[0]) ? 1 : -1;
      if (!depth) return position;
    } else if (marks.includes(mark)) {
      if (match[1]!.length < layer - 1) return match.index;
      const end = closing(text, position, match[0]);
      position = Math.max(position, end + match[0].length);
    }
  }
}
