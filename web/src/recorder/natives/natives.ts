/**
 * The browser's built-in functions, read before any script of the page can replace them, and wrappers around them.
 *
 * A page must not be able to detect the wrappers: they have the name, length and source text of the original, can be
 * constructed only where the original can, and return or throw exactly what the original does.
 */
export const {
  apply,
  construct,
  defineProperty,
  getOwnPropertyDescriptor,
  getPrototypeOf,
  isExtensible,
  ownKeys,
} = Reflect;
export const { is } = Object;
export const promiseThen = Promise.prototype.then;
const encoder = new TextEncoder();
const encode = TextEncoder.prototype.encode;
const functionToString = Function.prototype.toString;
const originals = new WeakMap<object, object>();

type AnyFunction = (this: never, ...args: never[]) => unknown;
/** Holds the wrapper as a method: like built-in functions, a method has no prototype and can't be constructed. */
interface Wrapper {
  call: AnyFunction;
}

/** Replace `owner[name]` by the wrapper that `build` returns for the original; do nothing where there is no function. */
export function wrap<T extends object>(
  owner: T,
  name: keyof T & string,
  build: (original: AnyFunction) => Wrapper,
): void {
  const descriptor = getOwnPropertyDescriptor(owner, name);
  const original = descriptor?.value as AnyFunction | undefined;
  if (!descriptor || typeof original !== 'function' || !descriptor.configurable) return;
  const wrapper = build(original).call;
  defineProperty(wrapper, 'name', { value: original.name, configurable: true });
  defineProperty(wrapper, 'length', { value: original.length, configurable: true });
  originals.set(wrapper, original);
  defineProperty(owner, name, { ...descriptor, value: wrapper });
}

/** Replace a constructor of the browser by one that calls `notice` with each object that it constructs. */
export function wrapConstructor<T extends object>(
  name: keyof typeof globalThis,
  notice: (instance: T) => void,
): void {
  const descriptor = getOwnPropertyDescriptor(globalThis, name);
  const original = descriptor?.value as (new (...args: unknown[]) => T) | undefined;
  if (!descriptor?.configurable || typeof original !== 'function') return;
  const wrapper = new Proxy(original, {
    construct(target, args, newTarget) {
      const instance = construct(target, args, newTarget === wrapper ? target : newTarget) as T;
      notice(instance);
      return instance;
    },
  });
  originals.set(wrapper, original);
  defineProperty(globalThis, name, { ...descriptor, value: wrapper });
  defineProperty(original.prototype as object, 'constructor', { value: wrapper });
}

/** Make `Function.prototype.toString` return the source text of the original for a wrapper. */
export function hideWrappers(): void {
  wrap(Function.prototype, 'toString', () => ({
    call(this: object) {
      return apply(functionToString, originals.get(this) ?? this, []) as string;
    },
  }));
}

const { stringify } = JSON;
const isArray = Array.isArray;

/** Write a record as JSON. Old libraries define `Array.prototype.toJSON`; a record's own property hides it. */
export function toJson(record: object): string {
  if ('toJSON' in [] || 'toJSON' in {}) hideToJson(record);
  return stringify(record);
}

function hideToJson(node: object): void {
  defineProperty(node, 'toJSON', { value: undefined });
  const names = isArray(node) ? node : ownKeys(node);
  for (let index = 0; index < names.length; index += 1) {
    const child: unknown = isArray(node) ? node[index] : node[names[index] as never];
    if (child !== null && typeof child === 'object') hideToJson(child);
  }
}

/** The length of a text in UTF-8, in bytes. */
export function byteLength(text: string): number {
  return (apply(encode, encoder, [text]) as Uint8Array).length;
}

/** The time in epoch milliseconds, by the monotonic clock. */
export const now = ((clock: Performance, read: () => number, origin: number) => () => {
  return origin + (apply(read, clock, []) as number);
})(performance, performance.now, performance.timeOrigin);
