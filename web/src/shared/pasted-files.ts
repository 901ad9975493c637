/**
 * The files that a paste brings. Office adds a picture of what it copies as text, and then the text is meant; file managers
 * add the names of the files as text, and then the files are meant.
 */
export function listPastedFiles(data: DataTransfer | null): File[] {
  const files = [...(data?.files ?? [])];
  const names = new Set(files.map(({ name }) => name));
  const lines = (data?.getData('text/plain') ?? '').split(/\r?\n/).filter((line) => line.trim());
  return lines.every((line) => names.has(line.split(/[/\\]/).at(-1)!)) ? files : [];
}
