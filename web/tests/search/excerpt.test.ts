import { expect, test, vi } from 'vitest';
import type { Excerpt } from '../../generated/api';

vi.stubGlobal('location', new URL('https://tickets.example/search'));
const { cutToLine, plainExcerpt } = await import('../../src/app/search/excerpt');

/** An excerpt whose matches are in square brackets of the form ⟦match⟧. */
function excerpt(field: string, text: string): Excerpt {
  const parts = text.split(/[⟦⟧]/).map((part, index) => ({ text: part, match: index % 2 === 1 }));
  return { field, parts: parts.filter((part) => part.text) } as Excerpt;
}

function plain(field: string, text: string): string {
  return plainExcerpt(excerpt(field, text))
    .map(({ text, match }) => (match ? `⟦${text}⟧` : text))
    .join('');
}

test.each([
  ['the *bank* asks ⟦back⟧', 'the bank asks ⟦back⟧'],
  ['see `⟦beetle⟧_two()`', 'see ⟦beetle⟧_two()'],
  ['…cut off** and ⟦bold⟧', '…cut off and ⟦bold⟧'],
  ['⟦found⟧ in **a cut…', '⟦found⟧ in a cut…'],
  ['⟦found⟧ before [a link](https://example.org/pa…', '⟦found⟧ before a link'],
])('%s', (source, expected) => {
  expect(plain('description', source)).toBe(expected);
});

test.each([
  ['price missing for sku ⟦GIFT⟧-50', 'price missing for sku ⟦GIFT⟧-50'],
  ['another line\n  the ⟦cart⟧ failed\nand one more', 'the ⟦cart⟧ failed'],
  ['⟦cart⟧ and ⟦basket⟧\n⟦cart⟧', '⟦cart⟧ and ⟦basket⟧'],
  ['…a long line that nobody could read before the ⟦cart⟧ failed', '…could read before the ⟦cart⟧ failed'],
])('of a passage, one line shows the match: %s', (passage, expected) => {
  const pieces = cutToLine(excerpt('console', passage).parts);
  expect(pieces.map(({ text, match }) => (match ? `⟦${text}⟧` : text)).join('')).toBe(expected);
});

test('a match in the address of a link keeps the source', () => {
  expect(plain('description', '[where](https://example.org/⟦beetle⟧)')).toBe(
    '[where](https://example.org/⟦beetle⟧)',
  );
});

test('fields without Markdown are unchanged', () => {
  expect(plain('console', '**⟦not⟧ markup**')).toBe('**⟦not⟧ markup**');
});
