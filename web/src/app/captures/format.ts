/** Format a duration in milliseconds: "250 ms", "1.50 s", "2.0 min". */
export function formatDuration(ms: number): string {
  if (ms <= -1) return `−${formatDuration(-ms)}`;
  if (ms < 1) return '0 ms';
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 2 : 1)} s`;
  return `${(ms / 60_000).toFixed(1)} min`;
}

/** Format how long something plays, in milliseconds, in minutes and whole seconds: "0:18". */
export function formatPlayingTime(ms: number): string {
  const seconds = Math.max(1, Math.round(ms / 1_000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

/** Shorten a URL to its last segment and query: `app.js:10:4`, `cart?page=2`. */
export function shortenUrl(url: string): string {
  const path = url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '');
  const [before, query = ''] = path.split(/(?=\?)/, 2) as [string, string?];
  const last = before.replace(/\/+$/, '').split('/').at(-1) ?? '';
  return (last || before || url) + query;
}

/** The host and port of a URL; an empty string if it has none. */
export function hostOf(url: string): string {
  return /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(url)?.[1] ?? '';
}

/** The path and query of a URL, or the URL itself. */
export function pathOf(url: string): string {
  return url.replace(/^https?:\/\/[^/?#]*/i, '') || url;
}
