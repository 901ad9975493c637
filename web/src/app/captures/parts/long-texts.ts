/** Characters of a text in a row of a list, which shows one line. */
export const ROW_LENGTH = 500;
/** Characters of a text that are shown at first, and how many more at a time. Thousands of them take long to lay out. */
export const SHOWN_LENGTH = 4_000;
export const MORE_LENGTH = 16_000;

/** Join texts to a line, and cut it. */
export function joinLine(texts: string[], most = ROW_LENGTH): string {
  let line = '';
  for (const [index, text] of texts.entries()) {
    line += (index > 0 ? ' ' : '') + text.slice(0, most + 1);
    if (line.length > most) return `${line.slice(0, most)}…`;
  }
  return line;
}

/** How many texts have so many characters together; at least one. */
export function countFitting(texts: string[], most: number): number {
  let length = 0;
  const index = texts.findIndex((text) => (length += text.length) > most);
  return index < 0 ? texts.length : Math.max(1, index);
}
