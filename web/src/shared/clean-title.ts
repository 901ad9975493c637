/** A title as it is stored: one line, also if cells or lines were pasted. */
export function cleanTitle(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
