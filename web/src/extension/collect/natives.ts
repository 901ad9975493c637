/**
 * What the page's own world offers, taken before any script of the page can change it.
 *
 * The wrappers must not be seen: they have the names, lengths and texts of what they stand for, can't be constructed
 * where that can't, and hand on whatever the original returns or throws.
 */
export const { apply, defineProperty, getOwnPropertyDescriptor, getPrototypeOf, ownKeys } = Reflect;
export const { is } = Object;
export const then = Promise.prototype.then;
const textOf = Function.prototype.toString;
const originals = new WeakMap<object, object>();

type Anything = (this: never, ...given: never[]) => unknown;

/** Put a wrapper where `owner[name]` is. `make` gets the original. Does nothing where there is none. */
export function wrap<T extends object>(
  owner: T,
  name: keyof T & string,
  make: (original: Anything) => Anything,
): void {
  const at = getOwnPropertyDescriptor(owner, name);
  const original = at?.value as Anything | undefined;
  if (!at || typeof original !== 'function' || !at.configurable) return;
  const wrapper = make(original);
  defineProperty(wrapper, 'name', { value: original.name, configurable: true });
  defineProperty(wrapper, 'length', { value: original.length, configurable: true });
  originals.set(wrapper, original);
  defineProperty(owner, name, { ...at, value: wrapper });
}

/** Let wrappers print as what they wrap. */
export function hideWrappers(): void {
  wrap(Function.prototype, 'toString', () =>
    method(function (this: object) {
      return apply(textOf, originals.get(this) ?? this, []) as string;
    }),
  );
}

/** The function as a method: without a prototype, and not to be constructed. */
export function method<F extends (this: never, ...given: never[]) => unknown>(body: F): F {
  return {
    call(this: never, ...given: never[]) {
      return apply(body, this, given);
    },
  }.call as unknown as F;
}

export const now = ((clock: Performance, read: () => number) => () => {
  return clock.timeOrigin + (apply(read, clock, []) as number);
})(performance, performance.now);
