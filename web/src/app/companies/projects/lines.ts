/** Split a text into its lines, without empty ones and surrounding spaces. */
export function splitLines(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
}
