import type { By, Comment, Event } from '../../../../generated/api';
import { joinWords } from '../../ui/display/format';
import { describeEvent, type Names } from './history';

/** What one person or agent changed within a few minutes, as one sentence. */
export interface Change {
  id: string;
  by: By;
  /** The rest of a sentence that begins with a name. */
  text: string;
  /** The type of the first event, for the icon. */
  type: string;
  /** Whether the ticket was resolved. */
  isDone: boolean;
}
export type Entry = { comment: Comment } | { change: Change };

const TOGETHER_MS = 10 * 60_000;
// A longer sentence would bury their words.
const ALONE = /^ticket\.(work_|question_|approval_|approved)/;

interface Line {
  event: Event;
  text: string;
}

/** The comments and changes of a ticket by time. */
export function listEntries(comments: Comment[], history: Event[], names: Names): Entry[] {
  const lines = history.flatMap((event): Line[] => {
    const text = describeEvent(event, names);
    return text === null ? [] : [{ event, text }];
  });
  const all = [
    ...comments.map((comment) => ({ at: comment.by.at, comment })),
    ...lines.map((line) => ({ at: line.event.at, line })),
  ].sort((a, b) => a.at.localeCompare(b.at));
  const entries: (Comment | Line[])[] = [];
  for (const each of all) {
    const last = entries.at(-1);
    if ('comment' in each) entries.push(each.comment);
    else if (Array.isArray(last) && belongTogether(last[0]!.event, each.line.event)) last.push(each.line);
    else entries.push([each.line]);
  }
  return entries.map((each) => (Array.isArray(each) ? { change: toChange(each) } : { comment: each }));
}

function belongTogether(first: Event, event: Event): boolean {
  return (
    first.by.user.id === event.by.user.id &&
    first.by.token_id === event.by.token_id &&
    Date.parse(event.at) - Date.parse(first.at) < TOGETHER_MS &&
    !ALONE.test(first.type) &&
    !ALONE.test(event.type)
  );
}

function toChange(lines: Line[]): Change {
  const { event } = lines[0]!;
  const counts = new Map<string, number>();
  for (const { text } of lines) counts.set(text, (counts.get(text) ?? 0) + 1);
  const parts = [...counts].map(([text, count]) => (count > 1 ? `${text} ${count} times` : text));
  const text = joinWords(parts.map((part, index) => (index ? part.replace(/\bthe ticket\b/, 'it') : part)));
  const isDone = lines.some((line) => resolves(line.event));
  return { id: event.id, by: lines.at(-1)!.event.by, text, type: event.type, isDone };
}

function resolves(event: Event): boolean {
  const changes = event.data['changes'] as { resolved?: { to?: unknown } } | undefined;
  return changes?.resolved?.to === true;
}
