/**
 * Bodies without their values: each becomes a stand-in of the same type and format (docs/use/captures.md, "Bodies").
 * The server does the same (ticketbox/domain/captures/redaction/body_shape.py); one test compares both.
 */
import type { NetworkEntry } from '../capture-types';
import { listPayloads } from '../network/payloads';
import { REDACTED } from './secret-values';
import { isCode, keepSteering } from './steering';

const MAX_ITEMS = 200;
/** A pattern of one digit has no more stand-ins. */
const ATTEMPTS = 10;
const TOKEN =
  /"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null|[{}[\]:,]|[ \t\r\n]+/uy;
const SPACE = /^[ \t\r\n]+$/;
// Python's white space, which differs from JavaScript's
const FORM =
  /^[^=&\s\x1c-\x1f\x85]{1,200}=(?:[^=&\s\x1c-\x1f\x85][^&\s\x1c-\x1f\x85]*)?(?:&[^=&\s\x1c-\x1f\x85]{1,200}=(?:[^=&\s\x1c-\x1f\x85][^&\s\x1c-\x1f\x85]*)?)*$/u;
const EVENTS = /^(?:data|event|id|retry)?:/;
const LINE = /((?:(?:data|event|id|retry)?: ?)?)([^\r\n]*)(\r\n|\r|\n|$)/g;
const KEY = /^(?!(?:[^0-9]*[0-9]){5})[A-Za-z_$@][A-Za-z0-9_$[\]-]{0,39}$/;
const WORD = /^[A-Za-z][A-Za-z_-]{0,23}$/;
const NUMBER = /^(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?([eE][+-]?[0-9]+)?$/;
const UUID = /^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/;
const HEX =
  /^(?:(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{8,128}|(?=[A-F]*[0-9])(?=[0-9]*[A-F])[0-9A-F]{8,128})$/;
const DATE =
  /^([0-9]{4})-[0-9]{2}-[0-9]{2}(?:([T ])[0-9]{2}:[0-9]{2}(:[0-9]{2})?(\.[0-9]{1,9})?(Z|[+-][0-9]{2}:?[0-9]{2})?)?$/;
/** Of a quantity, a price or a total, rather than an id. */
const FIGURE = /^-?[0-9]{1,7}(?:\.[0-9]{1,4})?$/;
const ID = /^(?:[0-9]{2,20}|(?=[A-Za-z_-]*[0-9])[A-Za-z0-9][A-Za-z0-9_-]{3,63})$/;
/** Of an address: its path without ids, or the name of a field in its query. */
const PATH = /^(?:\/[A-Za-z][A-Za-z_.-]{0,39}){1,8}\/?$/;
/** Words with signs between them, such as `orders.children`. */
const WORDS = /^[A-Za-z][A-Za-z_-]{0,23}(?:[.:/][A-Za-z][A-Za-z_-]{0,23}){1,7}$/;
/** What Socket.IO has before the JSON of a message. */
const PACKET = /^[0-9]{1,3}(?:\/[A-Za-z0-9_-]{1,40},)?[0-9]{0,4}(?=[[{])/;
const LITERALS = new Set(['', 'true', 'false', 'null']);
const KEPT = new Set(" .,:;-_/@+#()&=?!%'*~|<>{}[]$^`");

type Token = [text: string, isKey: boolean];

/**
 * Replaces the values in the bodies of one capture: the same value has the same stand-in. First `count` each body, then
 * `shape` each one: short words that occur repeatedly stay, and so do values that route a call or steer a page, wherever
 * they are, and texts of nothing but keys and such words. So does what the addresses of the capture contain anyway, after
 * `keepAddress`, and the numbers of a body, after `keepNumbers`.
 */
export class BodyShaper {
  readonly #counts = new Map<string, number>();
  readonly #standIns = new Map<string, string>();
  readonly #numbers = new Map<string, number>();
  readonly #keys = new Set<string>();
  readonly #addressed = new Set<string>();

  /** Keep the path of a URL if it is of words, the ids in it and in the query, and the names of the query. */
  keepAddress(url: string): void {
    const rest = /:\/\/[^/]*\/([^]*)$/.exec(url)?.[1] ?? '';
    const [, path = '', query = ''] = /^([^?#]*)\??([^#]*)/.exec(rest)!;
    for (const part of rest.split(/[/?&=#]/)) if (ID.test(part)) this.#addressed.add(part);
    for (const field of query.split('&')) {
      const name = field.split('=', 1)[0]!;
      if (WORD.test(name)) this.#addressed.add(name);
    }
    if (PATH.test(`/${path}`)) this.#addressed.add(`/${path}`);
  }

  listStandIns(): [value: string, standIn: string][] {
    return [...this.#standIns];
  }

  count(body: string): void {
    if (EVENTS.test(body)) {
      for (const [, , value] of body.matchAll(LINE)) this.count(value!);
      return;
    }
    const packet = PACKET.exec(body)?.[0];
    if (packet) return this.#countPacket(body.slice(packet.length));
    const tokens = splitTokens(body);
    let values: string[] = [];
    if (tokens) {
      for (const [text, isKey] of tokens) {
        const key = isKey ? (JSON.parse(text) as string) : '';
        if (WORD.test(key)) this.#keys.add(key);
      }
      for (const [key, text] of listValues(tokens)) {
        const value = text[0] === '"' ? (JSON.parse(text) as string) : text;
        const kept = keepSteering(key, value);
        if (kept !== null) this.#standIns.set(value, kept);
        if (text[0] === '"') values.push(value);
      }
    } else if (isForm(body)) values = body.split('&').map((field) => decodeForm(splitField(field)[1]));
    for (const each of values) if (WORD.test(each)) this.#counts.set(each, (this.#counts.get(each) ?? 0) + 1);
  }

  /** Count the payload of a message, and note the name of its event, which comes first. */
  #countPacket(payload: string): void {
    this.count(payload);
    const tokens = (splitTokens(payload) ?? []).map(([text]) => text).filter((text) => !SPACE.test(text));
    if (tokens[0] !== '[' || tokens[1]?.[0] !== '"') return;
    const name = JSON.parse(tokens[1]) as string;
    if (keepSteering('event', name) !== null) this.#standIns.set(name, name);
  }

  /** Keep the figures in JSON, such as quantities and prices, wherever they are. */
  keepNumbers(body: string): void {
    for (const value of listFigures(body)) this.#standIns.set(value, value);
  }

  /** Return a body with stand-ins. Of a longer array, only the first 200 items stay. */
  shape(body: string): string {
    if (EVENTS.test(body))
      return body.replace(
        LINE,
        (_, head: string, value: string, end: string) => head + this.#shapeLine(head, value) + end,
      );
    const packet = PACKET.exec(body)?.[0];
    if (packet) return packet + this.shape(body.slice(packet.length));
    const tokens = splitTokens(body);
    if (tokens) return this.#shapeJson(tokens);
    if (!isForm(body)) return this.#replace(body);
    return body
      .split('&')
      .map(splitField)
      .map(([name, value]) => `${this.#shapeKey(name)}=${this.#shapeField(value)}`)
      .join('&');
  }

  /** The value of a line of an event stream; names of events, and times to wait, stay. */
  #shapeLine(head: string, value: string): string {
    const isName = /^(?:event|retry)/.test(head) && keepSteering('event', value) !== null;
    return isName || !value ? value : this.shape(value);
  }

  #shapeJson(tokens: Token[]): string {
    const parts: string[] = [];
    const places: { isArray: boolean; commas: number; isBeyond: boolean }[] = [];
    for (const [text, isKey] of tokens) {
      const first = text[0]!;
      let place = places.at(-1);
      if (first === '[' || first === '{') {
        places.push({ isArray: first === '[', commas: 0, isBeyond: place?.isBeyond ?? false });
      } else if ((first === ']' || first === '}') && place) {
        places.pop();
        place = places.at(-1);
      } else if (first === ',' && place) {
        place.commas += 1;
        place.isBeyond ||= place.isArray && place.commas >= MAX_ITEMS;
      }
      if (!place?.isBeyond) parts.push(this.#shapeToken(text, isKey));
    }
    return parts.join('');
  }

  #shapeToken(text: string, isKey: boolean): string {
    if (text[0] !== '"') return /^[-0-9]/.test(text) ? this.#replace(text) : text;
    const value = JSON.parse(text) as string;
    const standIn = isKey ? this.#shapeKey(value) : this.#replace(value);
    return standIn === value ? text : JSON.stringify(standIn);
  }

  #shapeKey(key: string): string {
    return KEY.test(key) ? key : this.#replace(key);
  }

  #shapeField(field: string): string {
    const value = decodeForm(field);
    const standIn = this.#replace(value);
    return standIn === value ? field : encodeForm(standIn);
  }

  /** The stand-in of a text; what is redacted stays. */
  #replace(value: string): string {
    let known = this.#standIns.get(value);
    if (known === undefined && value.includes(REDACTED))
      return value
        .split(REDACTED)
        .map((part) => this.#replace(part))
        .join(REDACTED);
    if (known === undefined) this.#standIns.set(value, (known = this.#createStandIn(value)));
    return known;
  }

  #createStandIn(value: string): string {
    if (LITERALS.has(value) || this.#addressed.has(value) || isCode(value)) return value;
    if ((this.#counts.get(value) ?? 0) > 1) return value;
    if (WORDS.test(value) && value.split(/[.:/]/).every((word) => this.#isKnown(word))) return value;
    if (NUMBER.test(value)) return this.#shapeNumber(value);
    if (UUID.test(value))
      return this.#number(
        value,
        'uuid',
        (number) => `00000000-0000-4000-8000-${number.toString(16).padStart(12, '0')}`,
      );
    const date = DATE.exec(value);
    if (date) return this.#shapeDate(value, date);
    if (HEX.test(value))
      return this.#number(value, `hex${value.length}`, (number) =>
        number.toString(16).padStart(value.length, '0'),
      );
    const scheme = /^https?:\/\//.exec(value)?.[0] ?? '';
    const pattern = Array.from(value.slice(scheme.length), classify).join('');
    return this.#number(value, scheme + pattern, (number) => scheme + fill(pattern, number));
  }

  #isKnown(word: string): boolean {
    return this.#keys.has(word) || (this.#counts.get(word) ?? 0) > 1;
  }

  #shapeNumber(text: string): string {
    const [, sign = '', whole = '', decimals = '', exponent = ''] = NUMBER.exec(text)!;
    const head = whole.length === 1 ? whole : '1';
    const hasDecimals = /[1-9]/.test(decimals);
    const tail = '0'.repeat(whole.length - 1) + (hasDecimals ? `.${'0'.repeat(decimals.length)}` : '');
    const rest = decimals && !hasDecimals ? `.${decimals}` : '';
    if (!tail) return text;
    return this.#number(
      text,
      `${sign}${head}${tail}${rest}${exponent}`,
      (number) => `${sign}${head}${fill(tail, number)}${rest}${exponent}`,
    );
  }

  #shapeDate(
    value: string,
    [, year, separator = '', seconds, fraction = '', zone = '']: RegExpExecArray,
  ): string {
    const two = (number: number) => String(number).padStart(2, '0');
    return this.#number(value, `date${year}${separator}${fraction.length}${zone}`, (number) => {
      const date = `${year}-01-${two(1 + (number % 28))}`;
      if (!separator) return date;
      const time = `${two(Math.floor(number / 28) % 24)}:${two(Math.floor(number / 672) % 60)}`;
      return `${date}${separator}${time}${seconds ? ':00' : ''}${fraction && '.'.padEnd(fraction.length, '0')}${zone}`;
    });
  }

  /** Build the next stand-in of a pattern, which is neither the value itself nor an id that is kept. */
  #number(value: string, pattern: string, build: (number: number) => string): string {
    let built = value;
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const number = (this.#numbers.get(pattern) ?? 0) + 1;
      this.#numbers.set(pattern, number);
      built = build(number);
      if (built !== value && !this.#addressed.has(built)) break;
    }
    return built;
  }
}

/** The figures in JSON, each once. */
export function listFigures(body: string): string[] {
  const values = [...listValues(splitTokens(body) ?? [])].map(([, text]) =>
    text[0] === '"' ? (JSON.parse(text) as string) : text,
  );
  return [...new Set(values.filter((each) => FIGURE.test(each)))];
}

/**
 * Replace the values in the bodies of a capture, and keep the numbers in the answers to the requests with the ids in
 * `kept`. Entries are changed in place.
 */
export function shapeBodies(entries: NetworkEntry[], kept: readonly string[] = []): BodyShaper {
  const shaper = new BodyShaper();
  for (const { url } of entries) shaper.keepAddress(url);
  const sides = entries.flatMap(listPayloads);
  for (const side of sides) if (side?.body != null) shaper.count(side.body);
  for (const { id, response } of entries)
    if (response?.body != null && kept.includes(id)) shaper.keepNumbers(response.body);
  for (const side of sides) if (side?.body != null) side.body = shaper.shape(side.body);
  return shaper;
}

/** Split JSON into tokens; null for another format. A text that was cut is completed. */
function splitTokens(body: string): Token[] | null {
  const tokens: string[] = [];
  for (let position = 0; position < body.length;) {
    TOKEN.lastIndex = position;
    const found = TOKEN.exec(body)?.[0];
    if (found === undefined) {
      if (body[position] !== '"' || tokens.length === 0) return null;
      tokens.push(JSON.stringify(body.slice(position + 1)));
      break;
    }
    tokens.push(found);
    position += found.length;
  }
  const significant = tokens.filter((each) => !SPACE.test(each));
  let index = 0;
  const result = tokens.map((text): Token => {
    if (SPACE.test(text)) return [text, false];
    index += 1;
    return [text, text[0] === '"' && significant[index] === ':'];
  });
  return result.length > 0 ? result : null;
}

/** The texts and numbers of JSON, each with the key that it is under; those of an array are under its key. */
function* listValues(tokens: Token[]): Generator<[key: string, text: string]> {
  const outer: string[] = [];
  let key = '';
  for (const [text, isKey] of tokens) {
    const first = text[0]!;
    if (isKey) key = JSON.parse(text) as string;
    else if (first === '[' || first === '{') {
      outer.push(key);
      if (first === '{') key = '';
    } else if (first === ']' || first === '}') key = outer.pop() ?? '';
    else if (/["0-9-]/.test(first)) yield [key, text];
  }
}

function isForm(body: string): boolean {
  return FORM.test(body) && (body.includes('&') || !body.endsWith('='));
}

function splitField(field: string): [name: string, value: string] {
  const end = field.indexOf('=');
  return [field.slice(0, end), field.slice(end + 1)];
}

function decodeForm(text: string): string {
  return text.replaceAll('+', ' ').replace(/%([0-9a-fA-F]{2})/g, (_, hex: string) => {
    const code = parseInt(hex, 16);
    return code >= 0x20 && code <= 0x7e ? String.fromCharCode(code) : 'x';
  });
}

function encodeForm(text: string): string {
  return text.replace(/[^A-Za-z0-9_.~*-]/g, (each) =>
    each === ' ' ? '+' : `%${each.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
}

function classify(character: string): string {
  if (character >= '0' && character <= '9') return '0';
  if (character >= 'A' && character <= 'Z') return 'X';
  if (KEPT.has(character)) return character;
  return character === '\t' || character === '\r' || character === '\n' ? ' ' : 'x';
}

/** Write a number into the letters and digits of a pattern, from its end. */
function fill(pattern: string, number: number): string {
  const characters = pattern.split('');
  for (let index = characters.length - 1; index >= 0 && number > 0; index -= 1) {
    const place = { '0': [10, '0'], x: [26, 'a'], X: [26, 'A'] }[characters[index]!] as
      [size: number, first: string] | undefined;
    if (!place) continue;
    const [size, first] = place;
    characters[index] = String.fromCharCode(first.charCodeAt(0) + (number % size));
    number = Math.floor(number / size);
  }
  return characters.join('');
}
