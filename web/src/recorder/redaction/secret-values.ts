/** Finds the value of a secret key in a text. The server has the same rules. */
import { RULES } from './rules';
import { normalizeName, type KeyKind } from './secret-names';

export const REDACTED = '[redacted]';
/** A quote in any of the encodings of JSON, forms and HTML. */
export const QUOTE = String.raw`(?:\\{0,32}(?:["'\x60]|u002[27])|%(?:25){0,3}2[27]|&quot;|&#3[49];)`;

export interface SecretValue {
  start: number;
  end: number;
  replacement: string;
}

/** A value without quotes is judged by so many characters; the rest is read only if it is redacted. */
const MAX_JUDGED = 600;
const WHOLE_LINE_KEYS = new Set(RULES.names.whole_line);
const HARMLESS_VALUES = new Set(RULES.values.harmless);
const PROSE = new Set(RULES.values.prose);
const PLACEHOLDER = new RegExp(RULES.values.placeholder);
const WORD = new RegExp(RULES.values.word);
const RANDOM = new RegExp(RULES.values.random);
const MESSAGE = new RegExp(RULES.values.message);
const LOOSE = new RegExp(RULES.values.loose);
const FIGURE = new RegExp(RULES.values.figure);
const PSEUDO = new RegExp(RULES.values.pseudo, 'y');
const UNFILLED = new RegExp(RULES.values.unfilled, 'y');
const BLOCK = new RegExp(RULES.values.block, 'y');
const SCHEMA = new RegExp(RULES.values.schema, 'y');
const PROGRAM = new RegExp(RULES.values.program);
const FLAGS = new RegExp(RULES.values.flags);
const VARIABLE = /\$([A-Za-z_]\w{0,60})(?![\w$!#?*+-])/y;
const ARROWS = new Set(['->', '-->', '~>', '→', '⇒', '➜', '⟶', '↦']);
const SPACES = ' \t\u3000';
const FIRST_WORD = /^[a-zа-яё']{1,16}(?=[\s.,:;!?]|$)/;
const QUOTES = /(?<!\\)(\\*)(["'`])/g;
const BRACKET_OR_QUOTE = /(?<!\\)(\\*)(["'`])|[[\]{}]/g;
const UNQUOTED = readInTwoSteps(
  String.raw`(?:[^\s&"'\x60<>\\,;)\]}]|[,;)\]}](?![\s,;)\]}"'\x60<>&\\]|$)|["'\x60](?=[\p{L}\p{N}_])|\\(?![\s"'\x60\\nrtu]|$))`,
);
const LINE = readInTwoSteps(String.raw`[^\r\n"<>\\]`);
const MORE_WORDS =
  /(?:(?: |[<>&](?!\/|[A-Za-z0-9_.%[\]-]{1,40}[=;>]|#))(?![A-Za-z0-9_.-]{1,40} ?[=:])[^\s"'`<>\\&,;{}()[\]|=:]+){1,24}/y;
const FIRST_STRING = /\[[ \t\r\n]{0,40}\\{0,32}["']([^"'\\]{1,200} [^"'\\]{1,200})/y;
const OPENING_QUOTE = new RegExp(QUOTE, 'iy');

/** Whether a value is empty, a constant, a placeholder or redacted. */
export function isHarmlessValue(value: string): boolean {
  const trimmed = value.trim();
  return HARMLESS_VALUES.has(trimmed.toLowerCase()) || PLACEHOLDER.test(trimmed);
}

/** Whether a value that only neighbours the name of a secret is one: it has a digit, and is no figure or address. */
export function looksSecret(value: string): boolean {
  return LOOSE.test(value) && !FIGURE.test(value);
}

/** Whether a value is a message about a secret: it begins with its words, such as `must be …`, or is in ideographs. */
function isProse(value: string): boolean {
  const trimmed = value.trim().toLowerCase();
  const first = FIRST_WORD.exec(trimmed);
  return (first !== null && PROSE.has(first[0])) || MESSAGE.test(trimmed);
}

/** Whether a value is secret, by the kind and the normalized name of its key. */
export function isSecretValue(text: string, kind: KeyKind, name: string): boolean {
  const value = text.trim();
  if (isHarmlessValue(value)) return false;
  if (/^[0-9]+$/.test(value)) {
    const least = name === 'pass' || name === 'sid' ? 4 : 3;
    if (value.length < least || (name.endsWith('tokens') && value.length < 12)) return false;
  }
  switch (kind) {
    case 'strong':
    case 'secret':
      return !isProse(value);
    case 'last':
      // tokens have no spaces, and their names are used for other things
      return !WORD.test(value) && !(value.includes(' ') && (isProse(value) || !/[0-9=]/.test(value)));
    case 'digit':
      return /[0-9]/.test(value);
    case 'query':
      return /[0-9]/.test(value) && value.length >= (name === 'code' ? 12 : 8);
    case 'random':
      return RANDOM.test(value);
    case 'own':
      return true;
  }
}

/**
 * Find the value that starts at `position`, after a key, its closing quote and a sign. Null if it isn't secret.
 * `variables` are those of a GraphQL document, which stay: their values are elsewhere (graphql.ts).
 */
export function findSecretValue(
  text: string,
  position: number,
  key: string,
  quote: string,
  sign: string,
  kind: KeyKind,
  variables?: ReadonlySet<string>,
): SecretValue | null {
  if ((sign === ':' || sign === ']:') && matchAt(PSEUDO, text, position) !== null) return null; // card:nth-of-type(2)
  let start = position;
  while (SPACES.includes(text[start] ?? '-')) start += 1;
  const isSpaced = SPACES.includes(text[start - 1]!);
  const name = normalizeName(key);
  start += matchAt(UNFILLED, text, start)?.length ?? 0; // "password: %s", "…"
  BLOCK.lastIndex = start;
  const block = BLOCK.exec(text); // of YAML
  if (block) {
    start += block[0].length;
    if (text.startsWith(REDACTED, start)) return null;
    return { start, end: findBlockEnd(text, start, block[1]!), replacement: REDACTED };
  }
  const isArrow = ARROWS.has(sign.trim()) || sign < ' ';
  const openingQuote = matchAt(OPENING_QUOTE, text, start);
  if (openingQuote) {
    start += openingQuote.length;
    const end = findClosingQuote(text, start, openingQuote);
    return isSecret(text.slice(start, end), kind, name, isArrow)
      ? { start, end, replacement: REDACTED }
      : null;
  }
  if (variables?.size && variables.has(matchAt(VARIABLE, text, start)?.slice(1) ?? '')) return null;
  const replacement = sign.trim() === '' || isArrow ? REDACTED : `${quote}${REDACTED}${quote}`;
  const [judged, rest] = !quote && WHOLE_LINE_KEYS.has(name) ? LINE : UNQUOTED;
  if (text.startsWith(REDACTED, start)) {
    const more = matchAt(rest, text, start + REDACTED.length);
    return more ? { start, end: start + REDACTED.length + more.length, replacement } : null;
  }
  if (text[start] === '{' || text[start] === '[' || text.startsWith('${{', start)) {
    const end = findSecretNestedEnd(text, start, quote, kind);
    if (end === null) return null;
    const more = quote ? null : matchAt(rest, text, end);
    return { start, end: end + (more?.length ?? 0), replacement };
  }
  const value = matchAt(judged, text, start);
  if (!value) return null;
  const lowered = value.trim().toLowerCase();
  if (!isSecret(value, kind, name, isArrow) || isFolder(name, lowered)) return null;
  // "token: expired" is a message about a token, not a token
  if (isSpaced && !quote && kind !== 'strong' && lowered.length <= 16 && /^[a-zа-яё]+$/.test(lowered))
    return null;
  const judgedEnd = start + value.length;
  const end = judgedEnd + (matchAt(rest, text, judgedEnd)?.length ?? 0);
  const more = isSpaced && !quote && kind === 'strong' ? matchAt(MORE_WORDS, text, end) : null;
  return { start, end: end + (more?.length ?? 0), replacement };
}

function isSecret(value: string, kind: KeyKind, name: string, isArrow: boolean): boolean {
  if (!value || !isSecretValue(value, kind, name)) return false;
  if (isArrow && !looksSecret(value)) return false; // an arrow joins many things
  return kind === 'strong' || !value.trimStart().startsWith('('); // "signature: (a: number) => void"
}

function isFolder(name: string, value: string): boolean {
  return name.endsWith('pwd') && /^[/~]/.test(value);
}

/**
 * The end of an object or array; null if it holds no secret itself. What was read to its end and is kept is short,
 * or reading would take quadratic time.
 */
function findSecretNestedEnd(text: string, start: number, quote: string, kind: KeyKind): number | null {
  const isScalar = kind === 'digit' || kind === 'query' || kind === 'random';
  if (isScalar || text.startsWith('{{', start) || text.startsWith('${{', start) || isMessageList(text, start))
    return null;
  if (matchAt(SCHEMA, text, start) !== null) return null;
  const end = findClosingBracket(text, start, quote);
  const nested = end - start <= MAX_JUDGED ? text.slice(start, end) : '';
  return PROGRAM.test(nested) || (kind === 'last' && FLAGS.test(nested)) ? null : end;
}

/** The end of the lines that begin with this indent, of which the first starts at `position`. */
function findBlockEnd(text: string, position: number, indent: string): number {
  let start = position;
  for (;;) {
    const end = text.indexOf('\n', start);
    if (end < 0) return text.length;
    if (!text.startsWith(indent, end + 1)) return text[end - 1] === '\r' ? end - 1 : end;
    start = end + 1;
  }
}

/** The patterns of a value's first characters and of the rest, which may be empty, from the pattern of one. */
function readInTwoSteps(unit: string): [RegExp, RegExp] {
  return [new RegExp(`${unit}{1,${MAX_JUDGED}}`, 'uy'), new RegExp(`${unit}*`, 'uy')];
}

/** Whether an array begins with a sentence, as the faults of a form's field do. */
function isMessageList(text: string, start: number): boolean {
  FIRST_STRING.lastIndex = start;
  const match = FIRST_STRING.exec(text);
  return match !== null && isProse(match[1]!);
}

function matchAt(pattern: RegExp, text: string, position: number): string | null {
  pattern.lastIndex = position;
  return pattern.exec(text)?.[0] ?? null;
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
export function findClosingBracket(text: string, start: number, quote: string): number {
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
