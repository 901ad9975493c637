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

const AT = /(?<![\p{L}\p{N}_@/.])@(?=[\p{L}\p{N}_])/gu;

/**
 * Find mentions as the server does (docs/use/notifications.md, "Mentions"): `@` and a name, a name without its
 * spaces, or a first name that only one member has. The longest wins.
 */
export function findMentions(text: string, people: readonly MentionTarget[]): Mention[] {
  if (!text.includes('@') || people.length === 0) return [];
  const known = spellings(people);
  const longest = [...known.keys()].sort((a, b) => b.length - a.length);
  const found: Mention[] = [];
  for (const { index } of text.matchAll(AT)) {
    const rest = text.slice(index + 1).toLowerCase();
    const name = longest.find(
      (each) => rest.startsWith(each) && !/^[\p{L}\p{N}]/u.test(rest.slice(each.length)),
    );
    if (name) found.push({ start: index, end: index + 1 + name.length, ids: known.get(name)! });
  }
  return found;
}

function spellings(people: readonly MentionTarget[]): Map<string, string[]> {
  const known = new Map<string, string[]>();
  const add = (spelling: string, id: string) =>
    known.set(spelling, [...new Set([...(known.get(spelling) ?? []), id])]);
  for (const { id, name } of people) {
    add(name.toLowerCase(), id);
    add(name.replace(/\s+/g, '').toLowerCase(), id);
  }
  for (const { id, name } of people) {
    const first = firstName(name);
    const isUnique = people.every((each) => each.id === id || firstName(each.name) !== first);
    if (isUnique && !known.has(first)) add(first, id);
  }
  return known;
}

function firstName(name: string): string {
  return name.trim().split(/\s+/)[0]!.toLowerCase();
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
const TRIGGER = /(?:^|[\s(])([@#])([\p{L}\p{N}_][^\n@#]{0,40})?$/u;

/** The trigger that ends at the caret, if one does. */
export function findTrigger(text: string, caret: number): Trigger | null {
  const before = text.slice(Math.max(0, caret - 60), caret);
  const command = COMMAND.exec(before);
  const match = command ? ['', '/', command[1]] : TRIGGER.exec(before);
  if (!match) return null;
  const query = match[2] ?? '';
  return { kind: match[1] as Trigger['kind'], query, start: caret - query.length - 1 };
}

/** The people whose name, or a word of it, begins with the query. */
export function suggestPeople<P extends MentionTarget>(people: readonly P[], query: string): P[] {
  const wanted = query.toLowerCase();
  return people.filter(({ name }) => {
    const lower = name.toLowerCase();
    return lower.startsWith(wanted) || lower.split(/\s+/).some((word) => word.startsWith(wanted));
  });
}
