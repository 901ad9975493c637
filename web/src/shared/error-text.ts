/** An error's class and message, without the browser's lead: as the server's `format_error` (overview.py). */
export function formatError({ name, message }: { name?: string | null; message: string }): string {
  const text = message
    .replace(/^Uncaught /, '')
    .replace(/^\(in promise\) /, '')
    .trim();
  return !name || text.startsWith(name) ? text : `${name}: ${text}`;
}
