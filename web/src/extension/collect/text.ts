import { apply, getOwnPropertyDescriptor, getPrototypeOf, ownKeys } from './natives';
import { withoutOwn } from './stack';

const MOST_LETTERS = 8_192;
const MOST_KEYS = 50;
const DEEPEST = 3;
const plain = Object.prototype;
const dateText = Date.prototype.toISOString;
const regexText = RegExp.prototype.toString;
const symbolText = Symbol.prototype.toString;
const isElement = (
  (prototype) => (value: object) =>
    typeof Element === 'function' && prototype(value)
)((value: object) => value instanceof Element);

/** A call's arguments as a console shows them; `cut` says that some of it was left out. */
export function argumentsAsText(given: readonly unknown[]): { args: string[]; cut: boolean } {
  const writer = new Writer();
  let rest = given.slice(0, 50);
  const args: string[] = [];
  if (typeof rest[0] === 'string' && rest.length > 1 && rest[0].includes('%')) {
    let used = 1;
    const format = rest[0].replace(/%([sdifoOc%])/g, (whole, kind: string) => {
      if (kind === '%') return '%';
      if (used >= rest.length) return whole;
      const value = rest[used++];
      if (kind === 'c') return '';
      if (kind === 'd' || kind === 'i')
        return typeof value === 'symbol' ? 'NaN' : String(Math.trunc(Number(value)));
      return kind === 'f' && typeof value !== 'symbol' ? String(Number(value)) : writer.top(value);
    });
    args.push(writer.short(format));
    rest = rest.slice(used);
  }
  for (const each of rest) args.push(writer.top(each));
  return { args, cut: writer.cut || given.length > 50 };
}

/** Writes values down without running the page's code: accessors are named, never called. */
class Writer {
  cut = false;
  #room = 2 * MOST_LETTERS;

  top(value: unknown): string {
    const text = this.short(typeof value === 'string' ? value : this.#write(value, 0, []));
    this.#room -= text.length;
    return text;
  }

  short(text: string): string {
    const most = Math.max(100, Math.min(MOST_LETTERS, this.#room));
    if (text.length <= most) return text;
    this.cut = true;
    return text.slice(0, most);
  }

  #write(value: unknown, depth: number, above: object[]): string {
    switch (typeof value) {
      case 'string':
        return JSON.stringify(this.short(value));
      case 'bigint':
        return `${value}n`;
      case 'symbol':
        return apply(symbolText, value, []) as string;
      case 'function':
        return `function ${name(value) ?? ''}()`;
      case 'object':
        if (value === null) return 'null';
        try {
          return this.#object(value, depth, above);
        } catch {
          return '(unreadable)';
        }
      default:
        return Object.is(value, -0) ? '-0' : String(value);
    }
  }

  #object(value: object, depth: number, above: object[]): string {
    if (above.includes(value)) return '(circular)';
    const inside = [...above, value];
    if (Array.isArray(value)) return this.#list(value, depth, inside);
    if (getPrototypeOf(value) === plain) return this.#record(value, '', depth, inside);
    const kind = constructorOf(value);
    return (
      special(value, kind) ?? this.#record(value, kind && kind !== 'Object' ? `${kind} ` : '', depth, inside)
    );
  }

  #list(value: unknown[], depth: number, above: object[]): string {
    if (depth >= DEEPEST) return `Array(${value.length})`;
    const shown = Math.min(value.length, MOST_KEYS);
    const parts: string[] = [];
    for (let at = 0; at < shown; at += 1) parts.push(this.#property(value, String(at), depth, above));
    if (value.length > shown) parts.push(this.#more());
    return `[${parts.join(', ')}]`;
  }

  #record(value: object, label: string, depth: number, above: object[]): string {
    if (depth >= DEEPEST) return `${label}{…}`;
    const parts: string[] = [];
    for (const key of ownKeys(value)) {
      if (typeof key !== 'string') continue;
      if (parts.length === MOST_KEYS || this.#room <= 0) {
        parts.push(this.#more());
        break;
      }
      const shown = /^[\w$]+$/.test(key) ? key : JSON.stringify(key);
      parts.push(`${shown}: ${this.#property(value, key, depth, above)}`);
      this.#room -= key.length + 4;
    }
    return `${label}{${parts.join(', ')}}`;
  }

  #property(value: object, key: string, depth: number, above: object[]): string {
    const at = getOwnPropertyDescriptor(value, key);
    if (!at) return 'empty';
    if (!('value' in at)) return '(…)';
    const text = this.#write(at.value, depth + 1, above);
    if (typeof at.value !== 'object') this.#room -= text.length;
    return text;
  }

  #more(): string {
    this.cut = true;
    return '…';
  }
}

/** What isn't shown by its properties. */
function special(value: object, kind: string): string | null {
  if (value instanceof Error) {
    const own = (key: string) => textual(value, key);
    const stack = own('stack');
    const said = `${own('name') || 'Error'}: ${own('message') ?? ''}`;
    return stack ? withoutOwn(stack.includes(own('message') ?? '') ? stack : `${said}\n${stack}`) : said;
  }
  if (value instanceof Date) return isNaN(+value) ? 'Invalid Date' : (apply(dateText, value, []) as string);
  if (value instanceof RegExp) return apply(regexText, value, []) as string;
  if (isElement(value)) return element(value as Element);
  return value instanceof Map || value instanceof Set ? `${kind}(${value.size})` : null;
}

/** A property along the prototypes, where it is a plain string: a getter of the page's isn't called. */
function textual(value: object, key: string): string | null {
  for (let at: object | null = value; at; at = getPrototypeOf(at)) {
    const found = getOwnPropertyDescriptor(at, key);
    if (found) {
      // both browsers may keep an error's stack behind an accessor of their own
      if (key === 'stack' && found.get && isNative(found.get)) return asString(apply(found.get, value, []));
      return asString(found.value);
    }
  }
  return null;
}

function asString(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

const functionText = Function.prototype.toString;
function isNative(getter: () => unknown): boolean {
  return (apply(functionText, getter, []) as string).includes('[native code]');
}

function name(value: object): string | null {
  return asString(getOwnPropertyDescriptor(value, 'name')?.value);
}

function constructorOf(value: object): string {
  const prototype = getPrototypeOf(value);
  const maker: unknown = prototype && getOwnPropertyDescriptor(prototype, 'constructor')?.value;
  return typeof maker === 'function' ? (name(maker) ?? '') : '';
}

/** An element by its tag, id and classes. What stands in it, a field's value above all, isn't read. */
function element(value: Element): string {
  const attribute = (called: string) => {
    const found = apply(Element.prototype.getAttribute, value, [called]) as string | null;
    return found ? ` ${called}="${found.slice(0, 100)}"` : '';
  };
  return `<${value.localName}${attribute('id')}${attribute('class')}>`;
}
