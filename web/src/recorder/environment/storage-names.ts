/** What a page stores: the names, and the values at the beginning of the recording, which leave the page only as stand-ins. */
import type { Environment } from '../capture-types';
import { MAX_STORED_VALUE } from '../redaction/storage-shape';

export type StoredAtStart = NonNullable<NonNullable<Environment['storage']>['start']>[number];
type StorageNames = NonNullable<Environment['storage']>;

const MAX_NAMES = 50;
const MAX_LENGTH = 200;
/** Of all values together, in characters. */
const MAX_VALUES = 32_768;

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

/** Read what the page has stored, before its first script runs. A value is null beyond the limits. */
export function readStoredValues(): Required<StoredAtStart> {
  let left = MAX_VALUES;
  const readAll = (storage: () => Storage) => {
    const found: { [name: string]: string | null } = {};
    try {
      for (const name of listKeys(storage()).filter(Boolean).sort().slice(0, MAX_NAMES)) {
        const value = storage().getItem(name) ?? '';
        const isKept = name.length <= MAX_LENGTH && value.length <= Math.min(MAX_STORED_VALUE, left);
        if (isKept) left -= value.length;
        found[name.slice(0, MAX_LENGTH)] = isKept ? value : null;
      }
    } catch {
      // a sandboxed page has no storage
    }
    return found;
  };
  const [local, session] = [readAll(() => localStorage), readAll(() => sessionStorage)];
  const cookies = listNames(() => listCookieNames(document.cookie)).slice(0, MAX_NAMES);
  return { document: 0, local, session, cookies };
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
