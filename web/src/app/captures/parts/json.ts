/** Whether a value is short enough to be open as a whole: a line for each of its values. */
export function isShortJson(value: unknown, most = 40): boolean {
  let lines = 0;
  const count = (each: unknown): void => {
    if (++lines > most || typeof each !== 'object' || each === null) return;
    Object.values(each).forEach(count);
  };
  count(value);
  return lines <= most;
}

/** Parse a text that holds a JSON object or array; undefined for any other text. */
export function parseJson(text: string): object | undefined {
  if (!/^\s*[{[]/.test(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
