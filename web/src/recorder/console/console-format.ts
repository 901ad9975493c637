import { apply, getOwnPropertyDescriptor, getPrototypeOf, ownKeys } from '../natives/natives';
import { removeRecorderFrames } from '../stack-trace';

const MAX_ARGUMENTS = 50;
const MAX_LENGTH = 8_192;
const MAX_KEYS = 50;
const MAX_DEPTH = 3;
const MAX_ERRORS = 10;
/** The characters of everything that caused an error. */
const MAX_CAUSES = 16_384;
const { Map: NativeMap, Set: NativeSet, URL: NativeUrl, Response: NativeResponse } = globalThis;
const forEachOfMap = Map.prototype.forEach;
const forEachOfSet = Set.prototype.forEach;
const readHref = getOwnPropertyDescriptor(URL.prototype, 'href')!.get!;
const readStatus = getOwnPropertyDescriptor(Response.prototype, 'status')!.get!;
const readResponseUrl = getOwnPropertyDescriptor(Response.prototype, 'url')!.get!;
const plainPrototype = Object.prototype;
const dateToString = Date.prototype.toISOString;
const regExpToString = RegExp.prototype.toString;
const symbolToString = Symbol.prototype.toString;
const functionToString = Function.prototype.toString;
const isElement = (
  (isInstance) => (value: object) =>
    typeof Element === 'function' && isInstance(value)
)((value: object) => value instanceof Element);

/** Format the arguments of a console call as a console shows them. `truncated`: some of their text is left out. */
export function formatArguments(values: readonly unknown[]): { args: string[]; truncated: boolean } {
  const formatter = new ValueFormatter();
  let rest = values.slice(0, MAX_ARGUMENTS);
  const args: string[] = [];
  if (typeof rest[0] === 'string' && rest.length > 1 && rest[0].includes('%')) {
    let used = 1;
    const text = rest[0].replace(/%([sdifoOc%])/g, (placeholder, kind: string) => {
      if (kind === '%') return '%';
      if (used >= rest.length) return placeholder;
      const value = rest[used++];
      if (kind === 'c') return '';
      if (kind === 'd' || kind === 'i')
        return typeof value === 'symbol' ? 'NaN' : String(Math.trunc(Number(value)));
      return kind === 'f' && typeof value !== 'symbol' ? String(Number(value)) : formatter.format(value);
    });
    args.push(formatter.truncate(text));
    rest = rest.slice(used);
  }
  for (const each of rest) args.push(formatter.format(each));
  return { args, truncated: formatter.truncated || values.length > MAX_ARGUMENTS };
}

/** Formats values without running the page's code: an accessor is listed by name, never called. */
class ValueFormatter {
  truncated = false;
  #remaining = 2 * MAX_LENGTH;

  format(value: unknown): string {
    const text = this.truncate(typeof value === 'string' ? value : this.#formatValue(value, 0, []));
    this.#remaining -= text.length;
    return text;
  }

  truncate(text: string): string {
    const limit = Math.max(100, Math.min(MAX_LENGTH, this.#remaining));
    if (text.length <= limit) return text;
    this.truncated = true;
    return text.slice(0, limit);
  }

  #formatValue(value: unknown, depth: number, ancestors: object[]): string {
    switch (typeof value) {
      case 'string':
        return JSON.stringify(this.truncate(value));
      case 'bigint':
        return `${value}n`;
      case 'symbol':
        return apply(symbolToString, value, []) as string;
      case 'function':
        return `function ${nameOf(value) ?? ''}()`;
      case 'object':
        if (value === null) return 'null';
        try {
          return this.#formatObject(value, depth, ancestors);
        } catch {
          return '(unreadable)';
        }
      default:
        return Object.is(value, -0) ? '-0' : String(value);
    }
  }

  #formatObject(value: object, depth: number, ancestors: object[]): string {
    if (ancestors.includes(value)) return '(circular)';
    const path = [...ancestors, value];
    if (Array.isArray(value)) return this.#formatArray(value, depth, path);
    if (getPrototypeOf(value) === plainPrototype) return this.#formatProperties(value, '', depth, path);
    const type = constructorName(value);
    return (
      formatBuiltIn(value) ??
      this.#formatCollection(value, type, depth, path) ??
      this.#formatProperties(value, type && type !== 'Object' ? `${type} ` : '', depth, path)
    );
  }

  #formatArray(value: unknown[], depth: number, path: object[]): string {
    if (depth >= MAX_DEPTH) return `Array(${value.length})`;
    const count = Math.min(value.length, MAX_KEYS);
    const parts: string[] = [];
    for (let index = 0; index < count; index += 1)
      parts.push(this.#formatProperty(value, String(index), depth, path));
    if (value.length > count) parts.push(this.#ellipsis());
    return `[${parts.join(', ')}]`;
  }

  /** Format the members of a Map or Set; null for any other object. */
  #formatCollection(value: object, type: string, depth: number, path: object[]): string | null {
    const members: [key: unknown, member: unknown][] = [];
    const isMap = value instanceof NativeMap;
    if (!isMap && !(value instanceof NativeSet)) return null;
    apply(isMap ? forEachOfMap : forEachOfSet, value, [
      (member: unknown, key: unknown) =>
        void (members.length <= MAX_KEYS && (members[members.length] = [key, member])),
    ] as never);
    const label = `${type}(${(value as Set<unknown>).size})`;
    if (depth >= MAX_DEPTH || !members.length) return label;
    const parts: string[] = [];
    for (const [key, member] of members.slice(0, MAX_KEYS)) {
      if (this.#remaining <= 0) break;
      const name = isMap ? `${this.#formatValue(key, depth + 1, path)} => ` : '';
      const text = name + this.#formatValue(member, depth + 1, path);
      this.#remaining -= text.length;
      parts.push(text);
    }
    if (members.length > parts.length) parts.push(this.#ellipsis());
    return `${label} {${parts.join(', ')}}`;
  }

  #formatProperties(value: object, label: string, depth: number, path: object[]): string {
    if (depth >= MAX_DEPTH) return `${label}{…}`;
    const parts: string[] = [];
    for (const key of ownKeys(value)) {
      if (typeof key !== 'string') continue;
      if (parts.length === MAX_KEYS || this.#remaining <= 0) {
        parts.push(this.#ellipsis());
        break;
      }
      const name = /^[\w$]+$/.test(key) ? key : JSON.stringify(key);
      parts.push(`${name}: ${this.#formatProperty(value, key, depth, path)}`);
      this.#remaining -= key.length + 4;
    }
    return `${label}{${parts.join(', ')}}`;
  }

  #formatProperty(value: object, key: string, depth: number, path: object[]): string {
    const descriptor = getOwnPropertyDescriptor(value, key);
    if (!descriptor) return 'empty';
    if (!('value' in descriptor)) return '(…)';
    const text = this.#formatValue(descriptor.value, depth + 1, path);
    if (typeof descriptor.value !== 'object') this.#remaining -= text.length;
    return text;
  }

  #ellipsis(): string {
    this.truncated = true;
    return '…';
  }
}

/** Format a built-in object that isn't described by its properties; null for any other object. */
function formatBuiltIn(value: object): string | null {
  if (value instanceof Error) {
    const read = (key: string) => readString(value, key);
    const stack = read('stack');
    const heading = `${read('name') || 'Error'}: ${read('message') ?? ''}`;
    const own = stack
      ? removeRecorderFrames(stack.includes(read('message') ?? '') ? stack : `${heading}\n${stack}`)
      : heading;
    return own + formatCauses(value);
  }
  if (value instanceof Date)
    return isNaN(+value) ? 'Invalid Date' : (apply(dateToString, value, []) as string);
  if (value instanceof RegExp) return apply(regExpToString, value, []) as string;
  if (isElement(value)) return formatElement(value as Element);
  if (value instanceof NativeUrl) return `URL "${apply(readHref, value, []) as string}"`;
  if (value instanceof NativeResponse)
    return `Response ${apply(readStatus, value, []) as number} "${apply(readResponseUrl, value, []) as string}"`;
  return null;
}

/** What caused an error, and the errors that it combines, as lines that follow its stack. */
export function formatCauses(error: Error, depth = 1, room = { left: MAX_CAUSES }): string {
  const read = (key: string): unknown => getOwnPropertyDescriptor(error, key)?.value;
  if (depth > MAX_DEPTH || room.left === 0) return '';
  const take = (text: string): string => {
    const taken = text.slice(0, room.left);
    room.left -= taken.length;
    return taken;
  };
  const describe = (each: unknown): string =>
    each instanceof Error
      ? take(removeRecorderFrames(readString(each, 'stack') ?? '')) + formatCauses(each, depth + 1, room)
      : take(formatArguments([each]).args[0]!);
  const cause =
    'value' in (getOwnPropertyDescriptor(error, 'cause') ?? {})
      ? `\nCaused by: ${describe(read('cause'))}`
      : '';
  const errors = read('errors');
  if (!Array.isArray(errors)) return cause;
  const parts = errors.slice(0, MAX_ERRORS).map((each, index) => `\nError ${index + 1}: ${describe(each)}`);
  return cause + parts.join('');
}

/** Read a string property of an object or its prototypes. The page's getters aren't called. */
function readString(value: object, key: string): string | null {
  for (let object: object | null = value; object; object = getPrototypeOf(object)) {
    const descriptor = getOwnPropertyDescriptor(object, key);
    if (descriptor) {
      // both browsers may implement `stack` as an accessor
      if (key === 'stack' && descriptor.get && isNative(descriptor.get))
        return asString(apply(descriptor.get, value, []));
      return asString(descriptor.value);
    }
  }
  return null;
}

function asString(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function isNative(getter: () => unknown): boolean {
  return (apply(functionToString, getter, []) as string).includes('[native code]');
}

function nameOf(value: object): string | null {
  return asString(getOwnPropertyDescriptor(value, 'name')?.value);
}

function constructorName(value: object): string {
  const prototype = getPrototypeOf(value);
  const constructor: unknown = prototype && getOwnPropertyDescriptor(prototype, 'constructor')?.value;
  return typeof constructor === 'function' ? (nameOf(constructor) ?? '') : '';
}

/** Format an element by its tag, id and classes. Its content, such as the value of a field, is never read. */
function formatElement(value: Element): string {
  const format = (attribute: string) => {
    const text = apply(Element.prototype.getAttribute, value, [attribute]) as string | null;
    return text ? ` ${attribute}="${text.slice(0, 100)}"` : '';
  };
  return `<${value.localName}${format('id')}${format('class')}>`;
}
