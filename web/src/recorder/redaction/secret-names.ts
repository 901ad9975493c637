/** The names whose values are secret: of keys, query parameters and headers. The server has the same rules. */
import { RULES } from './rules';

/**
 * How the name of a key decides about its value: a name among the project's rules; a password's; one that contains or
 * ends in a secret's name; one whose value is secret if it has a digit, is a parameter's or looks random.
 */
export type KeyKind = 'own' | 'strong' | 'secret' | 'last' | 'digit' | 'query' | 'random';

const NAMES = RULES.names;
const LAST = new Set(NAMES.last);
const QUERY = new Set(NAMES.query);
const RANDOM = new Set(NAMES.random);
const QUERY_RANDOM = new Set(NAMES.query_random);
const NOT_KEYS = new Set(NAMES.not_keys);
const QUALIFIERS = new Set(NAMES.qualifiers);
const RANDOM_NOT_AFTER = new Set(NAMES.random_not_after);
const HARMLESS_LAST = new Set(NAMES.harmless_last);
const NEED_DIGIT = new Set(NAMES.need_digit);
const HARMLESS_HEADERS = new Set(RULES.headers.harmless);
const WORD = /[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+/g;
const MAX_KEYS = 8_192;

export const STEMS = NAMES.stems;
/** Names that say little: their values are secret only if they look random. */
export const WEAK = NAMES.weak;
export const REMOVED_HEADERS = new Set(RULES.headers.removed);

const kinds = new Map<string, KeyKind | null>();

/** Whether a header's value may be kept, by its lower-case name. All other values are redacted. */
export function isSafeHeader(name: string): boolean {
  return (
    HARMLESS_HEADERS.has(name) || RULES.headers.harmless_prefixes.some((prefix) => name.startsWith(prefix))
  );
}

/** A name in lower case without separators: `Customer-Ref`, `customerRef` and `customer_ref` become the same. */
export function normalizeName(name: string): string {
  return name.replace(/[^\p{L}\p{N}]/gu, '').toLowerCase();
}

/** How a key's name says that its value is secret, or null. `isParameter`: it is the name of a query parameter. */
export function classifyKey(key: string, isParameter: boolean): KeyKind | null {
  const known = `${isParameter ? '?' : ':'}${key}`;
  let kind = kinds.get(known);
  if (kind === undefined) {
    if (kinds.size === MAX_KEYS) kinds.clear();
    kind = decideKind(key, isParameter);
    kinds.set(known, kind);
  }
  return kind;
}

function decideKind(key: string, isParameter: boolean): KeyKind | null {
  const words = [...key.matchAll(WORD)].map(([word]) => word.toLowerCase());
  const isNumber = () => words.length > 1 && /^\d+$/.test(words.at(-1)!);
  while (isNumber()) words.pop();
  const isHarmless = HARMLESS_LAST.has(words.at(-1) ?? '');
  while (isNumber() || (words.length > 1 && QUALIFIERS.has(words.at(-1)!))) words.pop();
  const [before = '', last = ''] = ['', '', ...words].slice(-2);
  const whole = words.join('');
  let name = normalizeName(key);
  for (const harmless of NAMES.harmless) name = name.replaceAll(harmless, '');
  if (isHarmless) return null;
  if (NAMES.contain.some((part) => name.includes(part)))
    return NAMES.strong.some((part) => name.includes(part)) ? 'strong' : 'secret';
  if (NEED_DIGIT.has(last) || NEED_DIGIT.has(`${before} ${last}`)) return 'digit';
  if (LAST.has(last)) return NAMES.strong.includes(last) ? 'strong' : 'last';
  if (isParameter && QUERY.has(whole)) return 'query';
  if ((last === 'id' && LAST.has(before)) || (isParameter && QUERY_RANDOM.has(whole))) return 'random';
  if (RANDOM.has(last) || (last.endsWith('key') && !NOT_KEYS.has(last)))
    return RANDOM_NOT_AFTER.has(before) ? null : 'random';
  return null;
}
