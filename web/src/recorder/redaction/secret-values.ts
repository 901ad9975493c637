/** Finds the value of a secret key in a text. tests/extension/test_redaction.py compares these rules with the server's. */
import { normalizeName } from './secret-names';

export const REDACTED = '[redacted]';
/** A quote in any of the encodings of JSON, forms and HTML. */
export const QUOTE = String.raw`(?:\\{0,32}(?:["'\x60]|u002[27])|%(?:25){0,3}2[27]|&quot;|&#3[49];)`;

export interface SecretValue {
  start: number;
  end: number;
  replacement: string;
}

const WHOLE_LINE_KEYS = new Set(['cookie', 'setcookie', 'authorization', 'proxyauthorization']);
const STRONG_KEYS = ['pass', 'pwd', 'secret'];
const HARMLESS_VALUES = new Set([
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
const BRACKET_OR_QUOTE = /(?<!\\)(\\*)(["'`])|[[\]{}]/g;
const UNQUOTED =
  /(?:[^\s&"'`<>\\,;)\]}]|[,;)\]}](?![\s,;)\]}"'`<>&\\]|$)|["'`](?=[\p{L}\p{N}_])|\\(?![\s"'`\\nrtu]|$))+/uy;
const LINE = /[^\r\n"<>\\]+/y;
const ELEMENT_TEXT = /[^<]+/y;
const OPENING_QUOTE = new RegExp(QUOTE, 'iy');

/** Find the value that starts at `position`, after a key, its closing quote and a sign. Null if it isn't secret. */
export function findSecretValue(
  text: string,
  position: number,
  key: string,
  quote: string,
  sign: string,
): SecretValue | null {
  let start = position;
  while (text[start] === ' ' || text[start] === '\t') start += 1;
  const isSpaced = ' \t'.includes(text[start - 1]!);
  const openingQuote = matchAt(OPENING_QUOTE, text, start);
  if (openingQuote) {
    start += openingQuote.length;
    const end = findClosingQuote(text, start, openingQuote);
    return isHarmless(text.slice(start, end)) ? null : { start, end, replacement: REDACTED };
  }
  const replacement = sign.trim() === '' ? REDACTED : `${quote}${REDACTED}${quote}`;
  const name = normalizeName(key);
  const pattern = sign === '>' ? ELEMENT_TEXT : !quote && WHOLE_LINE_KEYS.has(name) ? LINE : UNQUOTED;
  if (text.startsWith(REDACTED, start)) {
    const rest = matchAt(pattern, text, start + REDACTED.length);
    return rest ? { start, end: start + REDACTED.length + rest.length, replacement } : null;
  }
  if (text[start] === '{' || text[start] === '[') {
    const end = findClosingBracket(text, start, quote);
    const rest = quote ? null : matchAt(pattern, text, end);
    return { start, end: end + (rest?.length ?? 0), replacement };
  }
  const value = matchAt(pattern, text, start);
  if (!value) return null;
  const lowered = value.trim().toLowerCase();
  const isNumber = /^\d+$/.test(lowered) && (lowered.length < 3 || name.endsWith('tokens'));
  if (isNumber || HARMLESS_VALUES.has(lowered) || (name === 'code' && lowered.length < 12)) return null;
  // "token: expired" is a message about a token, not a token
  const isWord = isSpaced && lowered.length <= 16 && /^[a-z]+$/.test(lowered);
  if (isWord && !quote && !STRONG_KEYS.some((part) => name.includes(part))) return null;
  return { start, end: start + value.length, replacement };
}

function matchAt(pattern: RegExp, text: string, position: number): string | null {
  pattern.lastIndex = position;
  return pattern.exec(text)?.[0] ?? null;
}

function isHarmless(value: string): boolean {
  return HARMLESS_VALUES.has(value.trim().toLowerCase());
}

/** The end of a quoted value. Each layer of JSON doubles the backslashes before a quote. */
function findClosingQuote(text: string, start: number, openingQuote: string): number {
  const mark = openingQuote.at(-1)!;
  if (!'"\'`'.includes(mark)) {
    const end = text.indexOf(openingQuote, start);
    return end < 0 ? text.length : end;
  }
  const layer = openingQuote.length; // one more than its backslashes
  QUOTES.lastIndex = start;
  for (let match = QUOTES.exec(text); match; match = QUOTES.exec(text)) {
    const backslashes = match[1]!.length;
    if (match[2] === mark && backslashes % (2 * layer) < layer)
      return QUOTES.lastIndex - 1 - (backslashes % (2 * layer));
  }
  return text.length;
}

/** The end of an object or array, or of the text if that is truncated. */
function findClosingBracket(text: string, start: number, quote: string): number {
  const layer = /["']$/.test(quote) ? quote.length : 1;
  const marks = quote.endsWith('"') ? '"' : '"\'`';
  let depth = 0;
  let position = start;
  for (;;) {
    BRACKET_OR_QUOTE.lastIndex = position;
    const match = BRACKET_OR_QUOTE.exec(text);
    if (!match) return text.length;
    position = BRACKET_OR_QUOTE.lastIndex;
    const mark = match[2];
    if (mark === undefined) {
      depth += '{['.includes(match[0]) ? 1 : -1;
      if (!depth) return position;
    } else if (marks.includes(mark)) {
      if (match[1]!.length < layer - 1) return match.index;
      const end = findClosingQuote(text, position, match[0]);
      position = Math.max(position, end + match[0].length);
    }
  }
}
