/** Secrets that are recognised by their form, whatever surrounds them. The server has the same rules. */
import { RULES } from './rules';
import { REDACTED } from './secret-values';

const FORMATS = RULES.formats.map(({ marks, pattern, kept }) => ({
  marks,
  pattern: new RegExp(pattern, 'g'),
  replacement: kept ? `$1${REDACTED}` : REDACTED,
}));
/** Words that follow `Bearer` or `Basic` in prose. */
const PROSE_WORDS = new Set(RULES.values.scheme_prose);
const JWT = /eyJ[\w-]{10,}(?:\.[\w-]*){0,4}/g;
const AUTHORIZATION =
  /([bB](?:earer|EARER|asic|ASIC)(?:[ \t\n\r\f\v]|%20|\+){1,4})([A-Za-z0-9._~+/=%-]{4,})/g;
const PEM_BEGIN = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const PEM_END = /-----END [A-Z0-9 ]{0,60}-----/g;
const LOGIN =
  /:\/\/(?<plain>[^\s/?#"'<>\\]{1,2048})@|%(?:25)?3a%(?:25)?2f%(?:25)?2f(?<quoted>(?:(?!%(?:25)?(?:2f|40))[a-z0-9._~%!$*+-]){1,2048})%(?:25)?40/gi;
const WEB_SCHEME = /(?<![a-z])(?:https?|wss?|ftp)$/i;
const CARD = new RegExp(RULES.card, 'g');
const IBAN = new RegExp(RULES.iban, 'g');

/** Redact tokens, private keys, credentials after a scheme, card numbers and IBANs; return their number, too. */
export function redactFormats(text: string, lowered: string): [string, number] {
  let hits = 0;
  const redactIf = (isSecret: (match: string) => boolean) => (match: string) => {
    if (!isSecret(match)) return match;
    hits += 1;
    return REDACTED;
  };
  let clean = text;
  if (lowered.includes('-----begin')) [clean, hits] = redactPrivateKeys(clean);
  for (const { marks, pattern, replacement } of FORMATS) {
    if (!marks.some((mark) => lowered.includes(mark))) continue;
    clean = clean.replace(pattern, (_, ...groups) => {
      hits += 1;
      return replacement.replace('$1', typeof groups[0] === 'string' ? groups[0] : '');
    });
  }
  // without a dot it is some other base64 JSON, such as a cursor
  if (lowered.includes('eyj'))
    clean = clean.replace(
      JWT,
      redactIf((match) => match.includes('.')),
    );
  if (lowered.includes('bearer') || lowered.includes('basic'))
    clean = clean.replace(AUTHORIZATION, (match, scheme: string, value: string) => {
      const isProse = PROSE_WORDS.has(value.toLowerCase().replace(/[.=]+$/, ''));
      if (isProse || (/^.[aA]/.test(scheme) && !isBasicCredential(value))) return match;
      hits += 1;
      return scheme + REDACTED;
    });
  clean = clean.replace(CARD, redactIf(isCardNumber));
  clean = clean.replace(IBAN, redactIf(isIban));
  return [clean, hits];
}

/** Remove the names and passwords of addresses; return their number, too. */
export function redactLogins(text: string): [string, number] {
  let hits = 0;
  const clean = text.replace(LOGIN, (...args) => {
    const match = args[0] as string;
    const { plain, quoted } = args.at(-1) as { plain?: string; quoted?: string };
    const start = args.at(-3) as number;
    const login = (plain ?? quoted)!;
    const isWebAddress = WEB_SCHEME.test(text.slice(Math.max(0, start - 8), start));
    const hasPassword = login.includes(':') || login.toLowerCase().includes('%3a');
    if (!isWebAddress && !hasPassword) return match; // webpack://name@version/
    hits += 1;
    return match.slice(0, plain === undefined ? match.toLowerCase().indexOf(login.toLowerCase()) : 3);
  });
  return [clean, hits];
}

/** Whether the digits fulfil the checksum of card numbers (ISO/IEC 7812-1, Luhn). */
function isCardNumber(text: string): boolean {
  const digits = [...text.replace(/[^0-9]/g, '')].map(Number).reverse();
  const sum = digits.reduce((total, digit, place) => {
    const figure = place % 2 ? 2 * digit : digit;
    return total + (figure > 9 ? figure - 9 : figure);
  }, 0);
  return new Set(digits).size > 1 && sum % 10 === 0;
}

/** Whether this is an account number with a valid checksum (ISO 13616, modulo 97). */
function isIban(text: string): boolean {
  const bare = text.replaceAll(' ', '');
  if (bare.length < 15 || bare.length > 34) return false;
  let rest = 0;
  for (const character of bare.slice(4) + bare.slice(0, 4))
    for (const digit of String(parseInt(character, 36))) rest = (rest * 10 + Number(digit)) % 97;
  return rest === 1;
}

function redactPrivateKeys(text: string): [string, number] {
  const parts: string[] = [];
  let copiedTo = 0;
  let hits = 0;
  for (;;) {
    PEM_BEGIN.lastIndex = copiedTo;
    const begin = PEM_BEGIN.exec(text);
    if (!begin) break;
    PEM_END.lastIndex = PEM_BEGIN.lastIndex;
    const end = PEM_END.exec(text);
    parts.push(text.slice(copiedTo, begin.index), REDACTED);
    copiedTo = end ? PEM_END.lastIndex : text.length;
    hits += 1;
    if (copiedTo === text.length) break;
  }
  return [copiedTo ? parts.join('') + text.slice(copiedTo) : text, hits];
}

/** Whether a value after `Basic` is a credential: base64 of a name, a colon and a password. */
function isBasicCredential(value: string): boolean {
  let base64 = value.replace(/%3d/gi, '=').replace(/[=.]+$/, '');
  if (base64.length % 4 === 1) base64 = base64.slice(0, -1);
  try {
    return atob(base64).includes(':');
  } catch {
    return false;
  }
}
