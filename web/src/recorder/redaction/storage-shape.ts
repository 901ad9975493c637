/**
 * What a page has stored, with stand-ins (docs/use/captures.md, "Storage"). The server does the same
 * (ticketbox/domain/captures/redaction/storage_shape.py); one test compares both.
 */
import { BodyShaper } from './body-shape';
import { classifyKey, normalizeName } from './secret-names';

/** Names with their values; null if the value isn't recorded. */
export type StoredValues = { [name: string]: string | null };

export const MAX_STORED_VALUE = 8_192;
const MAX_DEPTH = 6;
const MAX_ITEMS = 200;
const DAY_MS = 86_400_000;
/** Times so near to the capture say no more than the capture does. */
const NEAR_MS = 30 * DAY_MS;
/** 2100-01-01, when stand-ins of tokens expire. */
const FAR_MS = 4_102_444_800_000;
const LITERALS = new Set(['', 'true', 'false', 'null', 'undefined']);
const KEY = /^(?!(?:[^0-9]*[0-9]){5})[A-Za-z_$@][A-Za-z0-9_$.:-]{0,39}$/;
const SMALL = /^-?[0-9]{1,4}(?:\.[0-9]{1,2})?$/;
const NUMBER = /^-?[0-9]{1,17}(?:\.[0-9]+)?$/;
const WORD =
  /^(?:[a-z]{1,15}(?:[-_][a-z]{1,15}){0,3}|[A-Z]{1,15}(?:_[A-Z]{1,15}){0,3}|[a-z]{2,3}[-_][A-Z]{2})$/;
const TITLE = /^[A-Z][a-z]{1,15}$/;
const PATH = /^(?:\/[a-z][a-z-]{0,30}){0,5}\/?$/;
const VERSION = /^v?[0-9]{1,3}(?:\.[0-9]{1,3}){1,2}$/;
const DATE = /^[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9:.]+(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?$/;
const EXPIRY = /(?:^|[_-])exp$|expir|valid_?(?:until|to)$/i;
const STEERS =
  /^(?:type|kind|code|status|roles?|state|scopes?|provider|locale|lang|language|theme|mode|plan|token_?type)$/i;
const PERSONAL =
  /(?:^|[._-])(?:user|login|nick|account|customer|owner|person)$|name$|mail|phone|mobile|address|street|city|zip|post_?code|birth|iban|ssn|gender/i;
const SCHEME = /^(?:Bearer|Basic|Token|JWT) +/i;
const JWT = /^(eyJ[A-Za-z0-9_-]*)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]*)$/;

/**
 * Replaces the values that a page has stored. `capturedAt`: the capture's time, in epoch milliseconds. `extra`: the
 * project's rules of redaction.
 */
export class StorageShaper {
  readonly #shaper = new BodyShaper();
  readonly #rules: string[];

  constructor(
    private readonly capturedAt: number,
    extra: readonly string[] = [],
  ) {
    this.#rules = extra
      .map((each) => each.trim().toLowerCase())
      .filter((each) => !each.startsWith('format:'));
  }

  /** The stand-in of the value that is stored under a name; null if it can't be recorded. */
  shape(name: string, value: string): string | null {
    if (value.length > MAX_STORED_VALUE) return null;
    const shaped = this.#shapeText(name, value, isSecret(name), 0);
    return shaped.length > MAX_STORED_VALUE || this.#isOwn(name, shaped) ? null : shaped;
  }

  /** Whether a rule of the project applies to a name, or to what is left in a value. */
  #isOwn(name: string, shaped: string): boolean {
    const [own, text] = [normalizeName(name), shaped.toLowerCase()];
    return this.#rules.some((rule) =>
      rule.startsWith('text:')
        ? text.includes(rule.slice(5).trim())
        : own === normalizeName(rule) || normalizeName(text).includes(normalizeName(rule)),
    );
  }

  #shapeText(name: string, text: string, secret: boolean, depth: number): string {
    if (LITERALS.has(text)) return text;
    if (depth < MAX_DEPTH && /^\s*[[{"]/.test(text)) {
      const parsed = parseJson(text);
      if (parsed !== undefined) return JSON.stringify(this.#shapeValue(name, parsed, secret, depth + 1));
    }
    const scheme = SCHEME.exec(text)?.[0];
    if (scheme) return scheme + this.#shapeText('token', text.slice(scheme.length), true, depth);
    const jwt = JWT.exec(text);
    if (jwt) return this.#shapeJwt(jwt, depth);
    if (STEERS.test(name) && (WORD.test(text) || TITLE.test(text))) return text;
    if (NUMBER.test(text)) return this.#shapeNumber(name, text, secret);
    if (DATE.test(text)) {
      if (EXPIRY.test(name)) return `2100-01-01${text.slice(10)}`;
      if (secret || PERSONAL.test(name)) return `2000-01-01${text.slice(10)}`;
      if (Math.abs(Date.parse(text.slice(0, 10)) - this.capturedAt) <= NEAR_MS) return text;
    }
    if (secret || PERSONAL.test(name)) return mask(text);
    if (WORD.test(text) || PATH.test(text) || VERSION.test(text)) return text;
    return JSON.parse(this.#shaper.shape(JSON.stringify(text))) as string;
  }

  #shapeNumber(name: string, text: string, secret: boolean): string {
    const number = Number(text);
    if (EXPIRY.test(name)) return number > 1e9 ? String(number > 1e11 ? FAR_MS : FAR_MS / 1_000) : text;
    if (number > 1e9 && [1, 1_000].some((unit) => Math.abs(number * unit - this.capturedAt) <= NEAR_MS))
      return text;
    if ((secret || PERSONAL.test(name)) && text.length > 1) return text.replace(/[0-9]/g, '1');
    return SMALL.test(text) ? text : this.#shaper.shape(text);
  }

  #shapeValue(name: string, value: unknown, secret: boolean, depth: number): unknown {
    if (typeof value === 'string') return this.#shapeText(name, value, secret, depth);
    if (typeof value === 'number') {
      const text = String(value);
      return NUMBER.test(text) ? Number(this.#shapeNumber(name, text, secret)) : 1;
    }
    if (value === null || typeof value !== 'object') return value;
    if (depth >= MAX_DEPTH) return Array.isArray(value) ? [] : {};
    if (Array.isArray(value))
      return value.slice(0, MAX_ITEMS).map((each) => this.#shapeValue(name, each, secret, depth + 1));
    const members = Object.entries(value).slice(0, MAX_ITEMS);
    return Object.fromEntries(
      members.map(([key, each]) => {
        const shaped = KEY.test(key) || SMALL.test(key) ? key : this.#shapeText('', key, false, MAX_DEPTH);
        return [shaped, this.#shapeValue(key, each, secret || isSecret(key), depth + 1)];
      }),
    );
  }

  /** A token of the same structure that expires in the far future. Its signature is nonsense. */
  #shapeJwt([text, head, body, signature]: RegExpExecArray, depth: number): string {
    const [header, claims] = [decodePart(head!), decodePart(body!)];
    if (header === null || claims === null || depth >= MAX_DEPTH) return mask(text);
    const { alg = 'HS256', typ } = header as { alg?: unknown; typ?: unknown };
    const kept = { alg: keepWord(alg), ...(typ === undefined ? {} : { typ: keepWord(typ) }) };
    const shaped = this.#shapeValue('claims', claims, false, depth + 1) as { [claim: string]: unknown };
    if (typeof shaped.exp === 'number') shaped.exp = FAR_MS / 1_000;
    return `${encodePart(kept)}.${encodePart(shaped)}.${'A'.repeat(signature!.length)}`;
  }
}

function isSecret(name: string): boolean {
  return classifyKey(name, false) !== null;
}

/** Replace letters and digits; what is hexadecimal or in base64 stays so. */
function mask(text: string): string {
  return text.replace(/[0-9]|\p{L}/gu, (each) =>
    /[0-9]/.test(each) ? '0' : /\p{Lu}/u.test(each) ? 'A' : 'a',
  );
}

function keepWord(value: unknown): string {
  return typeof value === 'string' && /^[A-Za-z0-9+]{1,8}$/.test(value) ? value : 'JWT';
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The object in a part of a token; null if there is none. */
function decodePart(part: string): object | null {
  try {
    const bytes = Uint8Array.from(atob(part.replace(/-/g, '+').replace(/_/g, '/')), (each) =>
      each.charCodeAt(0),
    );
    const parsed: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    return typeof parsed === 'object' && !Array.isArray(parsed) ? parsed : null;
  } catch {
    return null;
  }
}

function encodePart(value: object): string {
  const text = JSON.stringify(value).replace(/[^\x00-\x7f]/g, 'x');
  return btoa(text).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
}
