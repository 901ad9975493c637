/** The names of what a page stores. Their values are never read. */
import type { Environment } from '../capture-types';

type StorageNames = NonNullable<Environment['storage']>;

const MAX_NAMES = 50;
const MAX_LENGTH = 200;

export function readStorageNames(): StorageNames {
  const names = {
    local: listNames(() => listKeys(localStorage)),
    session: listNames(() => listKeys(sessionStorage)),
    cookies: listNames(() => listCookieNames(document.cookie)),
  };
  const omitted = Object.values(names).reduce((sum, each) => sum + Math.max(0, each.length - MAX_NAMES), 0);
  const [local, session, cookies] = Object.values(names).map((each) => each.slice(0, MAX_NAMES));
  return { local: local!, session: session!, cookies: cookies!, omitted };
}

/** The names of cookies. One without a name is left out: its text is its value. */
export function listCookieNames(cookies: string): string[] {
  return cookies
    .split('; ')
    .filter((each) => each.indexOf('=') > 0)
    .map((each) => each.slice(0, each.indexOf('=')));
}

function listKeys(storage: Storage): string[] {
  return Array.from({ length: storage.length }, (_, index) => storage.key(index) ?? '');
}

function listNames(read: () => string[]): string[] {
  try {
    const names = read().filter(Boolean);
    return names.map((name) => name.slice(0, MAX_LENGTH)).sort();
  } catch {
    return []; // a sandboxed page has no storage
  }
}
