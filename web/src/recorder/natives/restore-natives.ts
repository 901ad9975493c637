/**
 * The browser's built-in functions, as they were before any script of the page ran. A page can replace them by anything:
 * while a record is read, the originals are in place. No code of the page runs meanwhile.
 */
import { defineProperty, getOwnPropertyDescriptor, isExtensible, ownKeys } from './natives';

type NativeProperty = [owner: object, key: PropertyKey, descriptor: PropertyDescriptor];

const OWNERS = [
  ...[Object, Array, String, Number, Math, JSON, Reflect, Date],
  ...[Array, String, Number, RegExp, Map, Set, Date, Headers, URL, Error].map(({ prototype }) => prototype),
  Object.getPrototypeOf([][Symbol.iterator]()),
  Object.getPrototypeOf(new Map().entries()),
] as object[];
const GLOBALS = [
  'Object',
  'Array',
  'String',
  'Number',
  'Math',
  'JSON',
  'Reflect',
  'Date',
  'RegExp',
  'Map',
  'Set',
  'URL',
];
const saved: NativeProperty[] = [];
for (const owner of OWNERS) for (const key of ownKeys(owner)) save(owner, key);
for (const key of GLOBALS) save(globalThis, key);

function save(owner: object, key: PropertyKey): void {
  const descriptor = getOwnPropertyDescriptor(owner, key);
  if (typeof descriptor?.value === 'function' || typeof descriptor?.value === 'object')
    saved[saved.length] = [owner, key, descriptor];
}

/** Do some work with the original functions, then put back what the page has set. */
export function withNatives<T>(work: () => T): T {
  const replaced: NativeProperty[] = [];
  let count = 0;
  for (let index = 0; index < saved.length; index += 1) {
    const [owner, key, original] = saved[index]!;
    const current = getOwnPropertyDescriptor(owner, key);
    if (current?.value === original.value && current !== undefined) continue;
    if (current ? !current.configurable : !isExtensible(owner)) continue; // the page has fixed it
    defineProperty(replaced, count, { value: [owner, key, current], configurable: true });
    count += 1;
    defineProperty(owner, key, original);
  }
  const prepare = getOwnPropertyDescriptor(Error, 'prepareStackTrace');
  if (prepare?.configurable) delete (Error as { prepareStackTrace?: unknown }).prepareStackTrace;
  try {
    return work();
  } finally {
    if (prepare?.configurable) defineProperty(Error, 'prepareStackTrace', prepare);
    for (let index = count - 1; index >= 0; index -= 1) {
      const [owner, key, current] = replaced[index]!;
      if (current) defineProperty(owner, key, current);
      else delete owner[key as keyof typeof owner];
    }
  }
}

/** Do some work that the page's functions can break; if they do, with the original ones. Null if that fails too. */
export function attempt<T>(work: () => T): T | null {
  try {
    return work();
  } catch {
    try {
      return withNatives(work);
    } catch {
      return null;
    }
  }
}
