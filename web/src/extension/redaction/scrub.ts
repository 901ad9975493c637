/**
 * Finding secrets in any text; the server's ticketbox/domain/captures/redaction/secret_scanner.py, rule for rule
 * (docs/use/captures.md, "Redaction"). A test holds both against each other.
 */
import type { Counts } from '../shapes';
import { compact, isSecretKey, STEMS } from './names';
import { QUOTE, REDACTED, valueAt } from './values';

const MOST_RULES = 100;

const PROSE = new Set(
  'auth authentication authorization error is realm scheme token tokens tokentype with'.split(' '),
);
const TAIL = String.raw`(?:[a-z0-9_.\-\]]|%(?!(?:25){0,3}(?:2[2367]|3[adf]))){0,48}`;
const AFTER_STEM =
  String.raw`(?=(?<tail>${TAIL}))\k<tail>(?: (?:key|token|number|code))?(?<quote>${QUOTE})?` +
  String.raw`(?<sign>\]?(?:(?:\r?\n){2}|\s{0,4}(?:=>?|:|>|\\{1,32}u003d|%(?:25){0,3}3[ad])))`;
const MARKS: [string, string[]][] = [
  ['', 'eyj akia asia aiza bearer basic'.split(' ')],
  ['_', 'ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ k_live_ k_test_ npm_ tok_ whsec_'.split(' ')],
  ['-', 'xox xapp- sk-ant- sk-proj- sk-svcacct- pypi- -----begin glpat- gldt- glrt-'.split(' ')],
];
const TOKENS = new RegExp(
  String.raw`(?:AKIA|ASIA)[A-Z0-9]{16}|AIza[\w-]{30,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}` +
    String.raw`|gl(?:pat|dt|rt)-[\w-]{16,}|xox[a-z]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,}` +
    String.raw`|[sr]k_(?:live|test)_[A-Za-z0-9]{10,}|sk-(?:ant|proj|svcacct)-[\w-]{16,}|npm_[A-Za-z0-9]{30,}` +
    String.raw`|tok_[A-Za-z0-9]{20,}|whsec_[A-Za-z0-9+/=]{16,}|pypi-[\w-]{16,}`,
  'g',
);
const JWT = /eyJ[\w-]{10,}(?:\.[\w-]*){0,4}/g;
const SCHEMES = /([bB](?:earer|EARER|asic|ASIC)(?:\s|%20|\+){1,4})([A-Za-z0-9._~+/=%-]{4,})/g;
const PEM = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const PEM_END = /-----END [A-Z0-9 ]{0,60}-----/g;
const LOGIN =
  /:\/\/(?<plain>[^\s/?#"'<>\\]{1,2048})@|%(?:25)?3a%(?:25)?2f%(?:25)?2f(?<quoted>(?:(?!%(?:25)?(?:2f|40))[a-z0-9._~%!$*+-]){1,2048})%(?:25)?40/gi;
const WEB = /(?<![a-z])(?:https?|wss?|ftp)$/i;
const SEPARATOR = /(?:%(?:25)*|^u00)[0-9a-f]{2}/gi;
const ESCAPED = /(?:%(?:25){0,3}|\\{1,32}u00)(3\d|[46][1-9a-f]|[57][0-9a]|2[de]|5f)/gi;
const KEY_BACKWARDS = /^[\p{L}\p{N}_.\-[\]%$]{0,64}/u;
const ELEMENT_OPENS = /<(?:[\p{L}\p{N}_.-]{1,40}:)?$/u;

/** Takes secrets out of texts. `extra` are a project's own rules, as docs/use/captures.md has them. */
export class Scrubber {
  readonly #names: Set<string>;
  readonly #literals: [string, RegExp][];
  readonly #assignment: RegExp;

  constructor(extra: readonly string[] = []) {
    const rules = extra.slice(0, MOST_RULES).map((rule) => rule.trim());
    const names = rules.filter((rule) => rule && !rule.startsWith('text:') && compact(rule));
    this.#names = new Set(names.map(compact));
    this.#literals = rules
      .filter((rule) => rule.startsWith('text:'))
      .flatMap((rule) => literal(rule.slice(5).trim()));
    const stems = [STEMS, ...new Set(names.map((name) => escaped(stem(name))))].join('|');
    this.#assignment = new RegExp(`(?:${stems})${AFTER_STEM}`, 'g');
  }

  /** The text without its secrets; what was taken out is added to the counts. */
  scrub(text: string, counts: Counts): string {
    const before = total(counts);
    let clean = text;
    if (text.includes('%') || text.includes('\\u00'))
      clean = text.replace(ESCAPED, (_, code: string) => String.fromCharCode(parseInt(code, 16)));
    for (const [plain, pattern] of this.#literals) {
      if (!clean.includes(plain)) continue;
      clean = clean.replace(pattern, () => {
        counts.extra += 1;
        return REDACTED;
      });
    }
    const lowered = lower(clean);
    if (MARKS.some(([gate, marks]) => clean.includes(gate) && marks.some((mark) => lowered.includes(mark)))) {
      const found = () => {
        counts.patterns += 1;
        return REDACTED;
      };
      clean = withoutKeyBlocks(clean, counts);
      clean = clean.replace(TOKENS, found);
      // without a dot it is base64 of some JSON, as cursors are
      clean = clean.replace(JWT, (match) => (match.includes('.') ? found() : match));
      clean = clean.replace(SCHEMES, (match, scheme: string, value: string) => {
        const prose = PROSE.has(value.toLowerCase().replace(/[.=]+$/, ''));
        return prose || (/^.[aA]/.test(scheme) && !isLogin(value)) ? match : scheme + found();
      });
    }
    if (clean.includes('@') || clean.includes('%'))
      clean = clean.replace(LOGIN, (...found) => login(found, counts));
    clean = this.#values(clean, lower(clean), counts);
    return total(counts) > before ? clean : text;
  }

  /** Blank the values of secret keys. */
  #values(text: string, lowered: string, counts: Counts): string {
    const parts: string[] = [];
    const pattern = this.#assignment;
    let done = 0;
    let position = 0;
    for (;;) {
      pattern.lastIndex = position;
      const match = pattern.exec(lowered);
      if (!match) break;
      position = pattern.lastIndex;
      const keyStart = match.index - keyBefore(text, match.index);
      const quote = match.groups!.quote ?? '';
      const sign = match.groups!.sign!;
      const keyEnd = position - sign.length - quote.length;
      const key = text.slice(keyStart, keyEnd).replace(SEPARATOR, ' ');
      const before = keyStart ? text[keyStart - 1]! : '';
      const asked =
        !quote && (['?', '&', '#', ';'].includes(before) || key.startsWith(' ') || (sign === '=' && !before));
      const own = this.#names.has(
        compact(
          trim(key)
            .split(/[\s.[\]]+/)
            .at(-1)!,
        ),
      );
      if (!own && !isSecretKey(key, asked)) continue;
      if (!isSign(sign, quote, text, keyStart)) continue;
      const span = valueAt(text, position, key, quote, sign);
      if (!span) continue;
      parts.push(text.slice(done, span.start), span.instead);
      done = position = span.end;
      if (own) counts.extra += 1;
      else if (asked) counts.query += 1;
      else counts.keys += 1;
    }
    return done ? parts.join('') + text.slice(done) : text;
  }
}

export function total({ headers, query, keys, patterns, extra }: Counts): number {
  return headers + query + keys + patterns + extra;
}

function trim(key: string): string {
  return key.replace(/^[ .[\]]+|[ .[\]]+$/g, '');
}

/** How many characters of a key stand before the part that was recognised. */
function keyBefore(text: string, end: number): number {
  const backwards = [...text.slice(Math.max(0, end - 64), end)].reverse().join('');
  return KEY_BACKWARDS.exec(backwards)?.[0].length ?? 0;
}

/** Whether what follows a key really introduces its value: an element's end, a part of a form. */
function isSign(sign: string, quote: string, text: string, keyStart: number): boolean {
  if (sign.endsWith('>') && !sign.endsWith('=>'))
    return ELEMENT_OPENS.test(text.slice(Math.max(0, keyStart - 48), keyStart));
  return quote !== '' || sign.trim() !== '';
}

function lower(text: string): string {
  const lowered = text.toLowerCase();
  // U+0130 alone grows when it is lowered; positions in both texts must agree
  return lowered.length === text.length ? lowered : text.replaceAll('İ', 'i').toLowerCase();
}

function stem(name: string): string {
  return name
    .replace(/^[_\-.[\]$ ]+|[_\-.[\]$ ]+$/g, '')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)[0]!
    .slice(0, 3);
}

function literal(rule: string): [string, RegExp][] {
  const plain = rule.replace(/\*+$/, '');
  if (!plain) return [];
  const rest = rule.endsWith('*') ? String.raw`[^\s"'\x60<>&,;\\]*` : '';
  return [[plain, new RegExp(escaped(plain) + rest, 'g')]];
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

function withoutKeyBlocks(text: string, counts: Counts): string {
  const parts: string[] = [];
  let done = 0;
  for (;;) {
    PEM.lastIndex = done;
    const begin = PEM.exec(text);
    if (!begin) break;
    PEM_END.lastIndex = PEM.lastIndex;
    const end = PEM_END.exec(text);
    parts.push(text.slice(done, begin.index), REDACTED);
    done = end ? PEM_END.lastIndex : text.length;
    counts.patterns += 1;
    if (done === text.length) break;
  }
  return done ? parts.join('') + text.slice(done) : text;
}

/** Whether this is what follows `Basic`: base64 of a name, a colon and a password. */
function isLogin(value: string): boolean {
  let bare = value.replace(/%3d/gi, '=').replace(/[=.]+$/, '');
  if (bare.length % 4 === 1) bare = bare.slice(0, -1);
  try {
    return atob(bare).includes(':');
  } catch {
    return false;
  }
}

function login(found: unknown[], counts: Counts): string {
  const [match] = found as [string];
  const { plain, quoted } = found.at(-1) as { plain?: string; quoted?: string };
  const text = found.at(-2) as string;
  const start = found.at(-3) as number;
  const who = (plain ?? quoted)!;
  const web = WEB.test(text.slice(Math.max(0, start - 8), start));
  if (!web && !who.includes(':') && !who.toLowerCase().includes('%3a')) return match; // webpack://name@version/
  counts.query += 1;
  const at = plain === undefined ? match.toLowerCase().indexOf(who.toLowerCase()) : 3;
  return match.slice(0, at);
}
