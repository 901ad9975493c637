/** A member, as far as a mention needs it. */
export interface MentionTarget {
  id: string;
  name: string;
}
/** The part of a text that mentions somebody. */
export interface Mention {
  start: number;
  end: number;
  ids: string[];
}

/**
 * Letters of scripts that are written without spaces between words, or whose suffixes follow a name without one: Thai,
 * Lao, Myanmar, Khmer, Hangul, kana and Han. ticketbox/domain/events/mentions.py has the same.
 */
const UNSPACED =
  '\\u0e00-\\u0eff\\u1000-\\u109f\\u1100-\\u11ff\\u1780-\\u17ff\\u3005-\\u3007\\u3040-\\u30ff\\u3130-\\u318f' +
  '\\u3400-\\u4dbf\\u4e00-\\u9fff\\uac00-\\ud7af\\uf900-\\ufaff\\u{20000}-\\u{3ffff}';
const WORD = '\\p{L}\\p{M}\\p{N}_';
const AT = new RegExp(`(?:(?<=[${UNSPACED}])|(?<![${WORD}@\\uff20/.]))[@\\uff20](?=[${WORD}])`, 'gu');
const END = new RegExp(`^(?:(?![\\p{L}\\p{N}]|[@\\uff20][${WORD}])|(?=[${UNSPACED}]))`, 'u');

/**
 * Find mentions in a text without markup as the server does (docs/use/notifications.md, "Mentions"): `@` and a name, a
 * name without its spaces, or a first name that only one member has. The longest wins.
 */
export function findMentions(text: string, people: readonly MentionTarget[]): Mention[] {
  if (people.length === 0) return [];
  const known = spellings(people);
  const longest = [...known.keys()].sort((a, b) => b.length - a.length);
  const found: Mention[] = [];
  for (const { index } of text.matchAll(AT)) {
    const rest = text.slice(index + 1).toLowerCase();
    const name = longest.find((each) => rest.startsWith(each) && END.test(rest.slice(each.length)));
    if (name) found.push({ start: index, end: index + 1 + name.length, ids: known.get(name)! });
  }
  return found;
}

function spellings(people: readonly MentionTarget[]): Map<string, string[]> {
  const known = new Map<string, string[]>();
  const add = (spelling: string, id: string) =>
    known.set(spelling, [...new Set([...(known.get(spelling) ?? []), id])]);
  for (const { id, name } of people) {
    const words = listWords(name);
    add(words.join(' '), id);
    add(words.join(''), id);
  }
  for (const { id, name } of people) {
    const first = firstName(name);
    const isUnique = people.every((each) => each.id === id || firstName(each.name) !== first);
    if (isUnique && !known.has(first)) add(first, id);
  }
  return known;
}

const firstName = (name: string) => listWords(name)[0]!;

function listWords(name: string): string[] {
  return name.normalize().trim().toLowerCase().split(/\s+/);
}

/**
 * What is being typed before the caret: `@` and the start of a name or title, `#` and the start of a title or key, or
 * `/` at the start of a line and the start of a command.
 */
export interface Trigger {
  kind: '@' | '#' | '/';
  query: string;
  start: number;
}

const COMMAND = /(?:^|\n)\/(\p{L}[\p{L} ]{0,20})?$/u;
const TRIGGER = new RegExp(
  `(?:(?:^|[\\s(])([@\\uff20#])|(?<=[${UNSPACED}])([@\\uff20]))([${WORD}][^\\n@\\uff20#]{0,40})?$`,
  'u',
);

/** The trigger that ends at the caret, if one does. */
export function findTrigger(text: string, caret: number): Trigger | null {
  const before = text.slice(Math.max(0, caret - 60), caret);
  const command = COMMAND.exec(before);
  const match = command ? ['', '/', undefined, command[1]] : TRIGGER.exec(before);
  if (!match) return null;
  const kind = (match[1] ?? '@').normalize('NFKC') as Trigger['kind']; // also as full-width `＠`
  const query = match[3] ?? '';
  return { kind, query, start: caret - query.length - 1 };
}

/** The people whose name, or a word of it, begins with the query. */
export function suggestPeople<P extends MentionTarget>(people: readonly P[], query: string): P[] {
  const wanted = query.normalize().toLowerCase();
  return people.filter(({ name }) => {
    const lower = name.normalize().toLowerCase();
    return lower.startsWith(wanted) || lower.split(/\s+/).some((word) => word.startsWith(wanted));
  });
}
