/** Secrets whose name isn't joined to them by a sign: members, elements, attributes, prose. As on the server. */
import { findInLists, findInTables } from './columns';
import { lowerCase, RULES, type Span } from './rules';
import { classifyKey, normalizeName, type KeyKind } from './secret-names';
import {
  findSecretValue,
  isHarmlessValue,
  isSecretValue,
  looksSecret,
  REDACTED,
  type SecretValue,
} from './secret-values';

const { pairs } = RULES;
const SPANS = pairs.spans.map((span) => ({ span, pattern: new RegExp(span.pattern, 'dg') }));
const PROSE = pairs.prose.map(({ pattern, value }) => ({
  pattern: new RegExp(pattern, 'dg'),
  value: new RegExp(value),
}));
const TAG = new RegExp(pairs.tag, 'dg');
const ATTRIBUTE = new RegExp(pairs.attribute, 'g');
const NAMING = new Set(pairs.naming);
const VALUED = new Set(pairs.valued);
const LABEL = new RegExp(pairs.labels);
const ARGUMENT_NAME = /^[ "']{0,2}([A-Za-z0-9_.-]{2,40}(?: [A-Za-z0-9_.-]{2,40}){0,2}) ?[=:]?[ "']{0,2}$/;

/** Whether a text is only the name of a secret, and the text after it looks like one: `token`, `8f3a…`. */
export function isSecretArgument(name: string, value: string): boolean {
  const match = name.length <= 130 ? ARGUMENT_NAME.exec(name) : null;
  return match !== null && isSecret(match[1]!, value, true);
}

/** Redact the values of members, elements and attributes, and in prose; return their number, too. */
export function redactPairs(text: string): [string, number] {
  let clean = text;
  let lowered = lowerCase(text);
  let hits = 0;
  const apply = (pattern: RegExp, find: (match: RegExpExecArray) => SecretValue | null) => {
    const [replaced, count] = replaceMatches(clean, lowered, pattern, find);
    if (count) [clean, lowered] = [replaced, lowerCase(replaced)];
    return count;
  };
  for (const { span, pattern } of SPANS) hits += apply(pattern, (match) => findSpan(match, span, clean));
  apply(TAG, (match) => {
    const [start, end] = match.indices![0]!;
    const [tag, count] = redactTag(clean.slice(start, end));
    hits += count;
    return count ? { start, end, replacement: tag } : null;
  });
  for (const { pattern, value } of PROSE)
    hits += apply(pattern, (match) => {
      const [start, end] = match.indices![1]!;
      const found = clean.slice(start, end);
      return value.test(found) && !isHarmlessValue(found) ? { start, end, replacement: REDACTED } : null;
    });
  for (const [find, isColumn] of [
    [findInLists, isName],
    [findInTables, isLabel],
  ] as const) {
    const places = find(clean, isColumn, isSecret).map(([start, end]) => ({
      start,
      end,
      replacement: REDACTED,
    }));
    clean = replacePlaces(clean, places);
    hits += places.length;
  }
  return [clean, hits];
}

/** Replace places of a text, in their order. */
export function replacePlaces(text: string, places: readonly SecretValue[]): string {
  const parts: string[] = [];
  let copiedTo = 0;
  for (const { start, end, replacement } of places) {
    parts.push(text.slice(copiedTo, start), replacement);
    copiedTo = end;
  }
  return places.length ? parts.join('') + text.slice(copiedTo) : text;
}

/** Replace the places that `find` returns for matches in the lower-case text. */
function replaceMatches(
  text: string,
  lowered: string,
  pattern: RegExp,
  find: (match: RegExpExecArray) => SecretValue | null,
): [string, number] {
  const places: SecretValue[] = [];
  let position = 0;
  for (;;) {
    pattern.lastIndex = position;
    const match = pattern.exec(lowered);
    if (!match) break;
    position = Math.max(pattern.lastIndex, match.index + 1);
    const place = find(match);
    if (!place) continue;
    places.push(place);
    position = Math.max(position, place.end);
  }
  return [replacePlaces(text, places), places.length];
}

function findSpan(match: RegExpExecArray, span: Span, text: string): SecretValue | null {
  const name = text.slice(...match.indices![span.name]!);
  if (!span.value) {
    const kind = classifyKey(name, false);
    const end = match.index + match[0].length;
    return kind && findSecretValue(text, end, name, match[span.quote!]!, ':', kind);
  }
  const [start, end] = match.indices![span.value]!;
  const value = text.slice(start, end);
  // "<password> to continue" at the end of a text is a sentence; a cut document has no spaces in its value
  const isSentence = end === text.length && value.trim().includes(' ');
  return !isSentence && isSecret(name, value, !!span.loose) ? { start, end, replacement: REDACTED } : null;
}

function isName(key: string): boolean {
  return classifyKey(key, false) !== null;
}

function isLabel(name: string): boolean {
  return LABEL.test(name.toLowerCase()) && isName(name);
}

function isSecret(key: string, value: string, isLoose: boolean): boolean {
  if (isLoose && !looksSecret(value)) return false;
  const kind = classifyKey(key, false);
  return kind !== null && isSecretValue(value, kind, normalizeName(key));
}

function redactTag(tag: string): [string, number] {
  let kind: KeyKind | null = null;
  let key = '';
  for (const match of tag.matchAll(ATTRIBUTE)) {
    const name = match[2]!.toLowerCase();
    const found = (match[3] ? match[4] : match[5])!;
    if (NAMING.has(name) && kind === null) [kind, key] = [classifyKey(found, false), found];
    else if (name === 'type' && found.toLowerCase() === 'password') [kind, key] = ['strong', 'password'];
  }
  if (kind === null) return [tag, 0];
  let hits = 0;
  const normalized = normalizeName(key);
  const clean = tag.replace(ATTRIBUTE, (match, before: string, name: string, quote, quoted, bare) => {
    const value = (quote ? quoted : bare) as string;
    if (!VALUED.has(name.toLowerCase()) || !isSecretValue(value, kind, normalized)) return match;
    hits += 1;
    return before + (quote ?? '') + REDACTED + (quote ?? '');
  });
  return [clean, hits];
}
