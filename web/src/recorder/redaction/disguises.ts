/** Undoes what hides a name: escapes, invisible characters, letters that look like others, base64. As on the server. */
import { REDACTED } from './secret-values';

const ESCAPED = /(?:%(?:25){0,3}|\\{1,32}u00)(3\d|[46][1-9a-f]|[57][0-9a]|2[de]|5f)/gi;
const ENTITY = /&#(?:([0-9]{2,3})|x([0-9a-f]{2}));/gi;
const INVISIBLE = /(?<=[A-Za-z0-9])[\u00ad\u200b-\u200f\u2060\ufeff]{1,8}(?=[A-Za-z0-9])/g;
const WIDE = /[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a]/g;
const ENCODED = /(?<![A-Za-z0-9+/_-])eyJ[A-Za-z0-9+/_-]{16,16384}(?![A-Za-z0-9+/_-])={0,2}/g;
const MIXED =
  /(?<![A-Za-z\u0370-\u052f])(?:[A-Za-z]+[\u0370-\u052f]|[\u0370-\u052f]+[A-Za-z])[A-Za-z\u0370-\u052f]*/g;
const ALIKE = new Map<string, string>();
const PAIRS = [
  ['асеорхуѕіјԁһкмтвнАВЕКМНОРСТХУІЅЈ', 'aceopxysijdhkmtbhABEKMHOPCTXYISJ'],
  ['αορνικτΑΒΕΖΗΙΚΜΝΟΡΤΥΧ', 'aopviktABEZHIKMNOPTYX'],
] as const;
for (const [letters, latin] of PAIRS)
  for (let index = 0; index < letters.length; index += 1) ALIKE.set(letters[index]!, latin[index]!);

/** Return a text with letters and digits as they look. */
export function unmask(text: string): string {
  let clean = text;
  if (clean.includes('%') || clean.includes('\\u00'))
    clean = clean.replace(ESCAPED, (_, code: string) => String.fromCharCode(parseInt(code, 16)));
  if (clean.includes('&#')) clean = clean.replace(ENTITY, readEntity);
  if (/^[\x00-\x7f]*$/.test(clean)) return clean;
  return clean
    .replace(INVISIBLE, '')
    .replace(WIDE, (each) => String.fromCharCode(each.charCodeAt(0) - 0xfee0))
    .replace(MIXED, readMixed);
}

/** Redact objects in base64 that hold a secret; return their number, too. */
export function redactEncoded(text: string, holdsSecret: (decoded: string) => boolean): [string, number] {
  let hits = 0;
  if (!text.includes('eyJ')) return [text, 0];
  const clean = text.replace(ENCODED, (match) => {
    const bare = match.replace(/=+$/, '').replaceAll('-', '+').replaceAll('_', '/');
    if (!holdsSecret(atob(bare.slice(0, bare.length - (bare.length % 4))))) return match;
    hits += 1;
    return REDACTED;
  });
  return [clean, hits];
}

/** Read a word of letters of two scripts as Latin, if all of its letters look so. */
function readMixed(word: string): string {
  const read = [...word].map((letter) => ALIKE.get(letter) ?? letter).join('');
  return /^[A-Za-z]+$/.test(read) ? read : word;
}

function readEntity(match: string, decimal?: string, hexadecimal?: string): string {
  const letter = String.fromCharCode(decimal ? Number(decimal) : parseInt(hexadecimal!, 16));
  return /^[A-Za-z0-9_.-]$/.test(letter) ? letter : match;
}
