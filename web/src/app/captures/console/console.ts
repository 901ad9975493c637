import type { ConsoleEntry } from '../../../../generated/api';

/** The console lines of the selected levels (none selected: all) that contain the text. */
export function filterConsole(entries: ConsoleEntry[], text: string, levels: string[]): ConsoleEntry[] {
  const wanted = text.trim().toLowerCase();
  return entries.filter(
    ({ level, args, source }) =>
      (levels.length === 0 || levels.includes(level)) &&
      (!wanted || `${args.join(' ')} ${source ?? ''}`.toLowerCase().includes(wanted)),
  );
}
