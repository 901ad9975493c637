import type { Excerpt, Piece } from '../../../generated/api';
import { plainText } from '../tickets/text/markdown';

const [OPEN, CLOSE] = ['\ufdd0', '\ufdd1']; // noncharacters, which no text contains
const MARKED = /\ufdd0([^\ufdd1]*)\ufdd1/;
const MARKDOWN_FIELDS = new Set(['description', 'comments']);

/** Return the excerpt without Markdown markup. */
export function plainExcerpt({ field, parts }: Excerpt): Piece[] {
  if (!MARKDOWN_FIELDS.has(field)) return parts;
  const source = parts.map(({ text, match }) => (match ? OPEN + text + CLOSE : text)).join('');
  const pieces = plainText(closeMarks(source))
    .split(MARKED)
    .map((text, index) => ({ text, match: index % 2 === 1 }))
    .filter(({ text }) => text);
  // a match in a link's address is visible only in the source
  return countMatches(pieces) === countMatches(parts) ? pieces : parts;
}

const MAX_BEFORE = 24; // characters: more of them would leave no room for the match in one line

/** The line of a passage that has the first match, cut before it if it would begin far from it. */
export function cutToLine(parts: Piece[]): Piece[] {
  const first = parts.findIndex(({ match }) => match);
  const before = parts
    .slice(0, first)
    .map(({ text }) => text)
    .join('');
  const start = before.slice(before.lastIndexOf('\n') + 1).trimStart();
  const after: Piece[] = [];
  for (const piece of parts.slice(first)) {
    const [line] = piece.text.split('\n', 1);
    if (line) after.push({ text: line, match: piece.match });
    if (line !== piece.text) break;
  }
  if (!start) return after;
  const words = start.length > MAX_BEFORE ? `…${start.slice(-MAX_BEFORE).replace(/^\S*\s(?=.)/, '')}` : start;
  return [{ text: words, match: false }, ...after];
}

function countMatches(pieces: Piece[]): number {
  return pieces.filter(({ match }) => match).length;
}

/** Complete Markdown markup that was cut off at either end of a passage. */
function closeMarks(passage: string): string {
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
