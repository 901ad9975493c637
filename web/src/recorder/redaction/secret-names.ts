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
const RANDOM_NOT_AFTER = new Set(NAMES.random_not_after);
const HARMLESS_LAST = new Set(NAMES.harmless_last);
const NEED_DIGIT = new Set(NAMES.need_digit);
const HARMLESS_HEADERS = new Set(RULES.headers.harmless);
const WORD = /[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+/g;
const MAX_KEYS = 8_192;

export const STEMS = NAMES.stems;
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
  while (words.length > 1 && (/^\d+$/.test(words.at(-1)!) || words.at(-1) === 'value')) words.pop();
  const last = words.at(-1) ?? '';
  let name = normalizeName(key);
  for (const harmless of NAMES.harmless) name = name.replaceAll(harmless, '');
  if (HARMLESS_LAST.has(last)) return null;
  if (NAMES.contain.some((part) => name.includes(part)))
    return NAMES.strong.some((part) => name.includes(part)) ? 'strong' : 'secret';
  if (NEED_DIGIT.has(last)) return 'digit';
  if (LAST.has(last)) return NAMES.strong.includes(last) ? 'strong' : 'last';
  if (isParameter && QUERY.has(words.join(''))) return 'query';
  if (RANDOM.has(last) && (words.length === 1 || !RANDOM_NOT_AFTER.has(words.at(-2)!))) return 'random';
  return null;
}
