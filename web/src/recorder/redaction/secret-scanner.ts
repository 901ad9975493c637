/** Finds secrets in any text (docs/use/captures.md, "Redaction"). The server has the same rules. */
import type { RedactionCounts } from '../capture-types';
import { redactEncoded, unmask } from './disguises';
import { redactFormats, redactLogins } from './formats';
import { findBoundValues, listVariables } from './graphql';
import { redactPairs, replacePlaces } from './pairs';
import { lowerCase, RULES } from './rules';
import { classifyKey, normalizeName, STEMS, WEAK } from './secret-names';
import { findSecretValue, QUOTE, REDACTED } from './secret-values';

const MAX_RULES = 100;
const EMAIL_RULE = 'format:email';
const KEY_REST = String.raw`(?:[a-zа-яё0-9_.\]]|-(?!-?>)|%(?!(?:25){0,3}(?:2[2367]|3[adf]))){0,48}`;
const BINARY = String.raw`[\x01-\x08\x0e-\x1f\x80-\x9f\xa1-\xaa\xac-\xb6\xb8-\xba\xbc-\xbe\ufffd]{1,3}`;
const AFTER_STEM =
  String.raw`(?=(?<tail>${KEY_REST}))\k<tail>(?:\[[0-9]{0,3}\]){0,2}(?: (?:keys?|tokens?|numbers?|codes?|phrase))?(?<quote>${QUOTE})?` +
  String.raw`(?<sign>\]?(?:(?:\r?\n){2}|${BINARY}|\s{0,4}(?::?=?=>?|[:：＝→⇒➜⟶↦]|-{1,2}>|~>|\\{1,32}u003d|%(?:25){0,3}3[ad])))`;
const SEPARATOR = /(?:%(?:25)*|^u00)[0-9a-f]{2}/gi;
const KEY_BACKWARDS = /^[\p{L}\p{N}_.\-[\]%$]{0,64}/u;
const WORD_BEFORE = /[A-Za-z]{2,16} $/;
const SECOND_WORDS = new Set(['key', 'keys', 'code', 'codes', 'phrase', 'seed']);

/** Redacts secrets in texts. `extra`: the rules of a project, in the format that docs/use/captures.md describes. */
export class SecretScanner {
  readonly #keys: Set<string>;
  readonly #literals: [string, RegExp][];
  readonly #gate: RegExp;
  readonly #assignment: RegExp;

  constructor(extra: readonly string[] = []) {
    const rules = extra.slice(0, MAX_RULES).map((rule) => rule.trim());
    const names = rules.filter(
      (rule) => rule && !rule.startsWith('text:') && rule !== EMAIL_RULE && normalizeName(rule),
    );
    this.#keys = new Set(names.map(normalizeName));
    this.#literals = rules
      .filter((rule) => rule.startsWith('text:'))
      .flatMap((rule) => compileLiteral(rule.slice(5).trim()));
    if (rules.includes(EMAIL_RULE)) this.#literals.push(['@', new RegExp(RULES.email, 'g')]);
    const stems = [STEMS, ...new Set(names.map((name) => escapeRegExp(stemOf(name))))].join('|');
    this.#gate = new RegExp([stems, WEAK, ...RULES.pairs.gates.labels, ...RULES.pairs.gates.rare].join('|'));
    this.#assignment = new RegExp(`(?:${stems}|${WEAK})${AFTER_STEM}`, 'g');
  }

  /** Return the text with its secrets redacted, and add them to the counts; `names`: not only those of a format. */
  redact(text: string, counts: RedactionCounts, names = true): string {
    const countBefore = sumCounts(counts);
    let clean = unmask(text);
    for (const [prefix, pattern] of this.#literals) {
      if (!clean.includes(prefix)) continue;
      clean = clean.replace(pattern, () => {
        counts.extra += 1;
        return REDACTED;
      });
    }
    let hits: number;
    [clean, hits] = redactFormats(clean, lowerCase(clean));
    counts.patterns += hits;
    [clean, hits] = redactEncoded(clean, (decoded) => this.#holdsSecret(decoded));
    counts.patterns += hits;
    if (clean.includes('@') || clean.includes('%')) {
      [clean, hits] = redactLogins(clean);
      counts.query += hits;
    }
    if (names && this.#gate.test(lowerCase(clean))) clean = this.#redactNames(clean, counts);
    return sumCounts(counts) > countBefore ? clean : text;
  }

  #holdsSecret(decoded: string): boolean {
    const lowered = lowerCase(decoded);
    if (redactFormats(decoded, lowered)[1]) return true;
    return this.#gate.test(lowered) && this.#redactNames(decoded, createCounts()) !== decoded;
  }

  #redactNames(text: string, counts: RedactionCounts): string {
    const [paired, hits] = redactPairs(text);
    const variables = listVariables(paired);
    const places = findBoundValues(paired, variables);
    counts.keys += hits + places.length;
    const clean = replacePlaces(paired, places);
    return this.#redactValues(clean, lowerCase(clean), counts, variables);
  }

  /** Redact the values of secret keys. */
  #redactValues(
    text: string,
    lowered: string,
    counts: RedactionCounts,
    variables: ReadonlySet<string>,
  ): string {
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
      let key = text.slice(keyStart, keyEnd).replace(SEPARATOR, ' ');
      if (SECOND_WORDS.has(key.toLowerCase())) key = wordBefore(text, keyStart) + key;
      const previous = keyStart ? text[keyStart - 1]! : '';
      const isParameter =
        !quote &&
        (['?', '&', '#', ';'].includes(previous) || key.startsWith(' ') || (sign === '=' && !previous));
      const isProjectKey = this.#keys.has(normalizeName(lastSegment(key)));
      const kind = isProjectKey ? 'own' : classifyKey(key, isParameter);
      if (!kind || (!quote && sign.trim() === '')) continue;
      const value = findSecretValue(text, position, key, quote, sign, kind, variables);
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

function createCounts(): RedactionCounts {
  return { headers: 0, query: 0, keys: 0, patterns: 0, extra: 0 };
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

/** The word before a key such as `phrase`, which alone says too little, with its space. */
function wordBefore(text: string, start: number): string {
  return WORD_BEFORE.exec(text.slice(Math.max(0, start - 17), start))?.[0] ?? '';
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
