import type { Excerpt, Piece } from '../../../generated/api';
import { words } from '../tickets/text/markdown';

const [OPEN, CLOSE] = ['\ufdd0', '\ufdd1']; // noncharacters: no text is written with them
const MARKED = /\ufdd0([^\ufdd1]*)\ufdd1/;
const WRITTEN = new Set(['description', 'comments']);

/** An excerpt as it is read: what was written as Markdown, without its signs. */
export function plain({ field, parts }: Excerpt): Piece[] {
  if (!WRITTEN.has(field)) return parts;
  const source = parts.map(({ text, match }) => (match ? OPEN + text + CLOSE : text)).join('');
  const pieces = words(whole(source))
    .split(MARKED)
    .map((text, place) => ({ text, match: place % 2 === 1 }))
    .filter(({ text }) => text);
  // what was found in a link's address is seen only as it was written
  return count(pieces) === count(parts) ? pieces : parts;
}

function count(pieces: Piece[]): number {
  return pieces.filter(({ match }) => match).length;
}

/** The passage with the signs that were cut off at either end. */
function whole(passage: string): string {
  let text = passage;
  if (/^…[^[]*\]\(/.test(text)) text = `[${text}`;
  if (/\]\([^()\s]*…$/.test(text)) text += ')';
  else text = text.replace(/!?\[([^[\]]*…)$/, '$1');
  for (const sign of ['**', '__', '~~', '`']) {
    const [before, ...rest] = text.split(sign);
    if (rest.length % 2 === 1) text = /(^|[\s(])$/.test(before!) ? text + sign : sign + text;
  }
  return text;
}
