/**
 * What a person says is wrong on a page, and what would be right, in a sentence. The server writes the same sentences
 * (ticketbox/domain/captures/expectations.py); both are tested with tests/domain/captures/expectations.json.
 */
import type { ActionTarget, Expectation } from '../capture-types';

const MAX_NAME = 80;
const COMPARED = new Set(['text', 'value', 'count', 'attribute', 'url', 'title']);

/** Say what is right, and what was seen: “Total” should be “80.00 €”; it was “40.00 €”. */
export function describeExpectation(sent: Expectation): string {
  const seen = sent.shown?.seen ?? sent.seen;
  const right = sent.shown?.right ?? sent.right;
  const name = sent.target ? nameElement(sent.target, sent, 'The') : 'The page';
  const other = sent.other ? nameElement(sent.other, sent, 'the') : 'the window';
  switch (sent.is) {
    case 'visible':
      return `${name} should be visible${sent.other ? `, near ${other}` : ''}`;
    case 'absent':
      return `${name} should not be here`;
    case 'enabled':
    case 'disabled':
      return `${name} should be ${sent.is}`;
    case 'checked':
      return `${name} should ${right === 'false' ? 'not ' : ''}be checked`;
    case 'fits':
      return `${name} should not be cut off`;
    case 'inside':
      return `${name} should be inside ${other}`;
    case 'apart':
      return `${name} should not overlap ${other}`;
    case 'same_as':
      return `${name} should be the same as ${other}${writeSeen(seen)}`;
    default: {
      const subject = nameSubject(sent, name);
      if (right == null) return `${subject} should not be ${quote(seen)}`;
      return `${subject} should be ${quote(right)}${writeSeen(seen)}`;
    }
  }
}

function nameSubject({ is, name: attribute }: Expectation, name: string): string {
  switch (is) {
    case 'value':
      return `The value of ${name}`;
    case 'count':
      return `The number of ${name}`;
    case 'attribute':
      return `The attribute ${quote(attribute)} of ${name}`;
    case 'url':
      return 'The address';
    case 'title':
      return 'The page’s title';
    default:
      return name;
  }
}

function writeSeen(seen: string | null | undefined): string {
  return seen == null ? '' : `; it was ${quote(seen)}`;
}

/** Name an element by what isn't wrong about it. */
function nameElement(target: ActionTarget, sent: Expectation, article: string): string {
  const wrong = COMPARED.has(sent.is) ? [sent.seen, sent.right, sent.shown?.seen] : [];
  const named = [target.name, target.text, target.test_id].find(
    (each) => each?.trim() && !wrong.includes(foldSpaces(each)),
  );
  return named ? quote(named) : `${article} ${target.role ?? 'element'}`;
}

function quote(text: string | null | undefined): string {
  const folded = [...foldSpaces(text ?? '')];
  const isShort = folded.length <= MAX_NAME;
  return `“${
    isShort
      ? folded.join('')
      : `${folded
          .slice(0, MAX_NAME - 1)
          .join('')
          .trimEnd()}…`
  }”`;
}

/** Fold white space as Playwright does (`normalizeWhiteSpace`). */
export function foldSpaces(text: string): string {
  return text
    .replace(/[\u200b\u00ad]/g, '')
    .trim()
    .replace(/\s+/g, ' ');
}
