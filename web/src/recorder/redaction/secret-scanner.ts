/**
 * Finds secrets in any text (docs/use/captures.md, "Redaction"). tests/extension/test_redaction.py compares these
 * rules with the server's.
 */
import type { RedactionCounts } from '../capture-types';
import { isSecretKey, normalizeName, STEMS } from './secret-names';
import { findSecretValue, QUOTE, REDACTED } from './secret-values';

const MAX_RULES = 100;

/** Words that follow `Bearer` or `Basic` in prose. */
const PROSE_WORDS = new Set(
  'auth authentication authorization error is realm scheme token tokens tokentype with'.split(' '),
);
const KEY_REST = String.raw`(?:[a-z0-9_.\-\]]|%(?!(?:25){0,3}(?:2[2367]|3[adf]))){0,48}`;
const AFTER_STEM =
  String.raw`(?=(?<tail>${KEY_REST}))\k<tail>(?: (?:key|token|number|code))?(?<quote>${QUOTE})?` +
  String.raw`(?<sign>\]?(?:(?:\r?\n){2}|\s{0,4}(?:=>?|:|>|\\{1,32}u003d|%(?:25){0,3}3[ad])))`;
/** What every token contains, in lower case, by a character that the original text must contain. */
const TOKEN_MARKS: [string, string[]][] = [
  ['', 'eyj akia asia aiza bearer basic'.split(' ')],
  ['_', 'ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ k_live_ k_test_ npm_ tok_ whsec_'.split(' ')],
  ['-', 'xox xapp- sk-ant- sk-proj- sk-svcacct- pypi- -----begin glpat- gldt- glrt-'.split(' ')],
];
const TOKEN = new RegExp(
  String.raw`(?:AKIA|ASIA)[A-Z0-9]{16}|AIza[\w-]{30,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}` +
    String.raw`|gl(?:pat|dt|rt)-[\w-]{16,}|xox[a-z]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,}` +
    String.raw`|[sr]k_(?:live|test)_[A-Za-z0-9]{10,}|sk-(?:ant|proj|svcacct)-[\w-]{16,}|npm_[A-Za-z0-9]{30,}` +
    String.raw`|tok_[A-Za-z0-9]{20,}|whsec_[A-Za-z0-9+/=]{16,}|pypi-[\w-]{16,}`,
  'g',
);
const JWT = /eyJ[\w-]{10,}(?:\.[\w-]*){0,4}/g;
const AUTHORIZATION = /([bB](?:earer|EARER|asic|ASIC)(?:\s|%20|\+){1,4})([A-Za-z0-9._~+/=%-]{4,})/g;
const PEM_BEGIN = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const PEM_END = /-----END [A-Z0-9 ]{0,60}-----/g;
const LOGIN =
  /:\/\/(?<plain>[^\s/?#"'<>\\]{1,2048})@|%(?:25)?3a%(?:25)?2f%(?:25)?2f(?<quoted>(?:(?!%(?:25)?(?:2f|40))[a-z0-9._~%!$*+-]){1,2048})%(?:25)?40/gi;
const WEB_SCHEME = /(?<![a-z])(?:https?|wss?|ftp)$/i;
const SEPARATOR = /(?:%(?:25)*|^u00)[0-9a-f]{2}/gi;
const ESCAPED = /(?:%(?:25){0,3}|\\{1,32}u00)(3\d|[46][1-9a-f]|[57][0-9a]|2[de]|5f)/gi;
const KEY_BACKWARDS = /^[\p{L}\p{N}_.\-[\]%$]{0,64}/u;
const ELEMENT_START = /<(?:[\p{L}\p{N}_.-]{1,40}:)?$/u;

/** Redacts secrets in texts. `extra`: the rules of a project, in the format that docs/use/captures.md describes. */
export class SecretScanner {
  readonly #keys: Set<string>;
  readonly #literals: [string, RegExp][];
  readonly #assignment: RegExp;

  constructor(extra: readonly string[] = []) {
    const rules = extra.slice(0, MAX_RULES).map((rule) => rule.trim());
    const names = rules.filter((rule) => rule && !rule.startsWith('text:') && normalizeName(rule));
    this.#keys = new Set(names.map(normalizeName));
    this.#literals = rules
      .filter((rule) => rule.startsWith('text:'))
      .flatMap((rule) => compileLiteral(rule.slice(5).trim()));
    const stems = [STEMS, ...new Set(names.map((name) => escapeRegExp(stemOf(name))))].join('|');
    this.#assignment = new RegExp(`(?:${stems})${AFTER_STEM}`, 'g');
  }

  /** Return the text with its secrets redacted, and add them to the counts. */
  redact(text: string, counts: RedactionCounts): string {
    const countBefore = sumCounts(counts);
    let clean = text;
    if (text.includes('%') || text.includes('\\u00'))
      clean = text.replace(ESCAPED, (_, code: string) => String.fromCharCode(parseInt(code, 16)));
    for (const [prefix, pattern] of this.#literals) {
      if (!clean.includes(prefix)) continue;
      clean = clean.replace(pattern, () => {
        counts.extra += 1;
        return REDACTED;
      });
    }
    const lowered = lowerCase(clean);
    if (
      TOKEN_MARKS.some(
        ([character, marks]) => clean.includes(character) && marks.some((mark) => lowered.includes(mark)),
      )
    ) {
      const redactToken = () => {
        counts.patterns += 1;
        return REDACTED;
      };
      clean = redactPrivateKeys(clean, counts);
      clean = clean.replace(TOKEN, redactToken);
      // without a dot it is some other base64 JSON, such as a cursor
      clean = clean.replace(JWT, (match) => (match.includes('.') ? redactToken() : match));
      clean = clean.replace(AUTHORIZATION, (match, scheme: string, value: string) => {
        const isProse = PROSE_WORDS.has(value.toLowerCase().replace(/[.=]+$/, ''));
        return isProse || (/^.[aA]/.test(scheme) && !isBasicCredential(value))
          ? match
          : scheme + redactToken();
      });
    }
    if (clean.includes('@') || clean.includes('%'))
      clean = clean.replace(LOGIN, (...match) => redactLogin(match, counts));
    clean = this.#redactValues(clean, lowerCase(clean), counts);
    return sumCounts(counts) > countBefore ? clean : text;
  }

  /** Redact the values of secret keys. */
  #redactValues(text: string, lowered: string, counts: RedactionCounts): string {
    const parts: string[] = [];
    const pattern = this.#assignment;
    let copiedTo = 0;
    let position = 0;
    for (;;) {
      pattern.lastIndex = position;
      const match = pattern.exec(lowered);
      if (!match) break;
      position = pattern.lastIndex;
      const keyStart = match.index - keyLengthBefore(text, match.index);
      const quote = match.groups!.quote ?? '';
      const sign = match.groups!.sign!;
      const keyEnd = position - sign.length - quote.length;
      const key = text.slice(keyStart, keyEnd).replace(SEPARATOR, ' ');
      const previous = keyStart ? text[keyStart - 1]! : '';
      const isParameter =
        !quote &&
        (['?', '&', '#', ';'].includes(previous) || key.startsWith(' ') || (sign === '=' && !previous));
      const isProjectKey = this.#keys.has(normalizeName(lastSegment(key)));
      if (!isProjectKey && !isSecretKey(key, isParameter)) continue;
      if (!isAssignment(sign, quote, text, keyStart)) continue;
      const value = findSecretValue(text, position, key, quote, sign);
      if (!value) continue;
      parts.push(text.slice(copiedTo, value.start), value.replacement);
      copiedTo = position = value.end;
      if (isProjectKey) counts.extra += 1;
      else if (isParameter) counts.query += 1;
      else counts.keys += 1;
    }
    return copiedTo ? parts.join('') + text.slice(copiedTo) : text;
  }
}

function sumCounts({ headers, query, keys, patterns, extra }: RedactionCounts): number {
  return headers + query + keys + patterns + extra;
}

/** The last name of a key such as `user[address][city]`. */
function lastSegment(key: string): string {
  return key
    .replace(/^[ .[\]]+|[ .[\]]+$/g, '')
    .split(/[\s.[\]]+/)
    .at(-1)!;
}

/** The number of characters of a key before the part that the pattern matched. */
function keyLengthBefore(text: string, end: number): number {
  const reversed = [...text.slice(Math.max(0, end - 64), end)].reverse().join('');
  return KEY_BACKWARDS.exec(reversed)?.[0].length ?? 0;
}

/** Whether the sign after a key really assigns a value: the end of an XML tag, or a sign that isn't only white space. */
function isAssignment(sign: string, quote: string, text: string, keyStart: number): boolean {
  if (sign.endsWith('>') && !sign.endsWith('=>'))
    return ELEMENT_START.test(text.slice(Math.max(0, keyStart - 48), keyStart));
  return quote !== '' || sign.trim() !== '';
}

/** A text in lower case, of the same length: U+0130 is the only character that becomes longer. */
function lowerCase(text: string): string {
  const lowered = text.toLowerCase();
  return lowered.length === text.length ? lowered : text.replaceAll('İ', 'i').toLowerCase();
}

function stemOf(name: string): string {
  return name
    .replace(/^[_\-.[\]$ ]+|[_\-.[\]$ ]+$/g, '')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)[0]!
    .slice(0, 3);
}

/** The fixed beginning of a `text:` rule with the pattern of the whole; empty for a rule without one. */
function compileLiteral(rule: string): [string, RegExp][] {
  const prefix = rule.replace(/\*+$/, '');
  if (!prefix) return [];
  const rest = rule.endsWith('*') ? String.raw`[^\s"'\x60<>&,;\\]*` : '';
  return [[prefix, new RegExp(escapeRegExp(prefix) + rest, 'g')]];
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

function redactPrivateKeys(text: string, counts: RedactionCounts): string {
  const parts: string[] = [];
  let copiedTo = 0;
  for (;;) {
    PEM_BEGIN.lastIndex = copiedTo;
    const begin = PEM_BEGIN.exec(text);
    if (!begin) break;
    PEM_END.lastIndex = PEM_BEGIN.lastIndex;
    const end = PEM_END.exec(text);
    parts.push(text.slice(copiedTo, begin.index), REDACTED);
    copiedTo = end ? PEM_END.lastIndex : text.length;
    counts.patterns += 1;
    if (copiedTo === text.length) break;
  }
  return copiedTo ? parts.join('') + text.slice(copiedTo) : text;
}

/** Whether a value after `Basic` is a credential: base64 of a name, a colon and a password. */
function isBasicCredential(value: string): boolean {
  let base64 = value.replace(/%3d/gi, '=').replace(/[=.]+$/, '');
  if (base64.length % 4 === 1) base64 = base64.slice(0, -1);
  try {
    return atob(base64).includes(':');
  } catch {
    return false;
  }
}

/** Redact the name and password of an address. Takes the arguments of a `replace` callback. */
function redactLogin(args: unknown[], counts: RedactionCounts): string {
  const [match] = args as [string];
  const { plain, quoted } = args.at(-1) as { plain?: string; quoted?: string };
  const text = args.at(-2) as string;
  const start = args.at(-3) as number;
  const login = (plain ?? quoted)!;
  const isWebAddress = WEB_SCHEME.test(text.slice(Math.max(0, start - 8), start));
  const hasPassword = login.includes(':') || login.toLowerCase().includes('%3a');
  if (!isWebAddress && !hasPassword) return match; // webpack://name@version/
  counts.query += 1;
  const end = plain === undefined ? match.toLowerCase().indexOf(login.toLowerCase()) : 3;
  return match.slice(0, end);
}
