/**
 * What the page's own world offers, taken before any script of the page can change it.
 *
 * The wrappers must not be seen: they have the names, lengths and texts of what they stand for, can't be constructed
 * where that can't, and hand on whatever the original returns or throws.
 */
export const { apply, defineProperty, getOwnPropertyDescriptor, getPrototypeOf, ownKeys } = Reflect;
export const { is } = Object;
export const then = Promise.prototype.then;
const encoder = new TextEncoder();
const encode = TextEncoder.prototype.encode;
const textOf = Function.prototype.toString;
const originals = new WeakMap<object, object>();

type Anything = (this: never, ...given: never[]) => unknown;
/** A method has no prototype and can't be constructed, as the browser's own functions. */
interface Wrapper {
  call: Anything;
}

/** Put a wrapper where `owner[name]` is. `make` gets the original. Does nothing where there is none. */
export function wrap<T extends object>(
  owner: T,
  name: keyof T & string,
  make: (original: Anything) => Wrapper,
): void {
  const at = getOwnPropertyDescriptor(owner, name);
  const original = at?.value as Anything | undefined;
  if (!at || typeof original !== 'function' || !at.configurable) return;
  const wrapper = make(original).call;
  defineProperty(wrapper, 'name', { value: original.name, configurable: true });
  defineProperty(wrapper, 'length', { value: original.length, configurable: true });
  originals.set(wrapper, original);
  defineProperty(owner, name, { ...at, value: wrapper });
}

/** Let wrappers print as what they wrap. */
export function hideWrappers(): void {
  wrap(Function.prototype, 'toString', () => ({
    call(this: object) {
      return apply(textOf, originals.get(this) ?? this, []) as string;
    },
  }));
}

/** How many bytes a text has as UTF-8. */
export function bytesOf(text: string): number {
  return (apply(encode, encoder, [text]) as Uint8Array).length;
}

export const now = ((clock: Performance, read: () => number, origin: number) => () => {
  return origin + (apply(read, clock, []) as number);
})(performance, performance.now, performance.timeOrigin);
