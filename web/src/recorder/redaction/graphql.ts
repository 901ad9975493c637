/** Follows the variables of a GraphQL document to their values: `login(password: $p)`, `"variables": {"p": "…"}`. */
import { classifyKey, type KeyKind } from './secret-names';
import { findClosingBracket, findSecretValue, QUOTE, type SecretValue } from './secret-values';

const SPACE = String.raw`(?:[ \t\n\r\f\v]|%(?:25)*(?:20|0a)|\+|\\n){0,4}`;
const COLON = String.raw`${SPACE}(?::|%(?:25)*3a)${SPACE}`;
const DOLLAR = String.raw`(?:\$|%(?:25)*24)`;
const DECLARED = new RegExp(String.raw`${DOLLAR}([a-z_]\w{0,60})${COLON}(?:\[|%(?:25)*5b)?[a-z]`, 'gi');
const BOUND = new RegExp(String.raw`(?<![\w$])([a-z_]\w{0,60})${COLON}${DOLLAR}([a-z_]\w{0,60})`, 'gi');
const VARIABLES = new RegExp(String.raw`(?<!\w)variables(?:${QUOTE})?(?:${COLON}|=)(?=\{|%(?:25)*7b)`, 'gi');
const MEMBER = new RegExp(String.raw`(?<quote>${QUOTE})(?<name>[a-z_]\w{0,60})\k<quote>${COLON}`, 'gi');

/** The variables that a text declares; the empty set if it is no GraphQL document. */
export function listVariables(text: string): ReadonlySet<string> {
  if (!text.includes('$') && !text.includes('%24')) return new Set();
  return new Set([...text.matchAll(DECLARED)].map((match) => match[1]!));
}

/** Find the values of the variables that are arguments with a secret name. */
export function findBoundValues(text: string, declared: ReadonlySet<string>): SecretValue[] {
  const bound = new Map<string, [string, KeyKind]>();
  if (declared.size)
    for (const [, argument, variable] of text.matchAll(BOUND)) {
      const kind = classifyKey(argument!, false);
      if (kind && declared.has(variable!)) bound.set(variable!, [argument!, kind]);
    }
  const places: SecretValue[] = [];
  let done = 0;
  for (const match of bound.size ? text.matchAll(VARIABLES) : []) {
    const start = match.index + match[0].length;
    if (start < done) continue;
    done = text[start] === '{' ? findClosingBracket(text, start, '') : text.length;
    MEMBER.lastIndex = start;
    for (let member = MEMBER.exec(text); member; member = MEMBER.exec(text)) {
      const end = MEMBER.lastIndex;
      if (end > done) break;
      const known = bound.get(member.groups!.name!);
      if (!known || (places.length && member.index < places.at(-1)!.end)) continue;
      const value = findSecretValue(text, end, known[0], member.groups!.quote!, ':', known[1]);
      if (value) places.push(value);
    }
  }
  return places;
}
