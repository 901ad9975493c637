import type { ErrorEntry } from '../../../../generated/api';

/** Errors with the same fingerprint. */
export interface ErrorGroup {
  key: string;
  first: ErrorEntry;
  last: ErrorEntry;
  entries: ErrorEntry[];
  count: number;
}

/** Group errors by fingerprint, in the order of their first occurrence. */
export function groupErrors(entries: ErrorEntry[]): ErrorGroup[] {
  const groups = new Map<string, ErrorGroup>();
  for (const entry of entries) {
    const key = entry.fingerprint || `${entry.kind} ${entry.name} ${entry.message} ${entry.source}`;
    const group = groups.get(key) ?? { key, first: entry, last: entry, entries: [], count: 0 };
    groups.set(key, {
      ...group,
      last: entry,
      entries: [...group.entries, entry],
      count: group.count + (entry.count ?? 1),
    });
  }
  return [...groups.values()];
}

/** The groups whose name, message, source or stack contains the text. */
export function filterErrors(groups: ErrorGroup[], text: string): ErrorGroup[] {
  const wanted = text.trim().toLowerCase();
  return groups.filter(
    ({ first: { name, message, source, stack } }) =>
      !wanted || `${name} ${message} ${source ?? ''} ${stack ?? ''}`.toLowerCase().includes(wanted),
  );
}

/** An error as text for the clipboard: the stack, else name and message. */
export function errorText({ name, message, stack }: ErrorEntry): string {
  return stack ?? `${name ? `${name}: ` : ''}${message}`;
}

/** How often each kind of error happened, such as TypeError; the most frequent first. */
export function countErrors(entries: ErrorEntry[]): { name: string; count: number }[] {
  const counts = new Map<string, number>();
  for (const { name, count } of entries)
    counts.set(name || 'Error', (counts.get(name || 'Error') ?? 0) + (count ?? 1));
  return [...counts].map(([name, count]) => ({ name, count })).sort((a, b) => b.count - a.count);
}
