import { boot } from '../server/boot';

/** The path of the server's public URL, without a slash at its end: empty, or such as `/tickets`. */
const BASE = boot.public_url ? new URL(boot.public_url).pathname.replace(/\/$/, '') : '';

/** Return the address of a path of the app or the server, such as `/inbox`, for links and requests. */
export function withBase(path: string): string {
  return BASE + path;
}

/** Return the path of the app at an address's path, such as `/inbox`; null if it is outside the app. */
export function withoutBase(path: string): string | null {
  if (path === BASE) return '/';
  return path.startsWith(`${BASE}/`) ? path.slice(BASE.length) : null;
}
