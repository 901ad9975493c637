import { expect, test } from 'vitest';
import { cleanTitle } from '../../src/shared/clean-title';
import { listPastedFiles } from '../../src/shared/pasted-files';

const paste = (names: string[], text: string) =>
  ({ files: names.map((name) => new File([], name)), getData: () => text }) as unknown as DataTransfer;

test.each([
  ['a screenshot', ['image.png'], '', ['image.png']],
  ['cells with a picture of them', ['image.png'], 'A1\tB1\nA2\tB2\n', []],
  ['files of a file manager', ['a.txt', 'b.log'], 'a.txt\nb.log', ['a.txt', 'b.log']],
  ['files with their paths', ['a.txt'], '/home/ann/a.txt\r\n', ['a.txt']],
  ['text', [], 'words', []],
])('%s is pasted', (_, names, text, expected) => {
  expect(listPastedFiles(paste(names, text)).map(({ name }) => name)).toEqual(expected);
  expect(listPastedFiles(null)).toEqual([]);
});

test.each([
  ['A1\tB1', 'A1 B1'],
  ['One\nTwo\r\n', 'One Two'],
  ['  \u00a0a  ', 'a'],
])('%j becomes a title of one line', (pasted, title) => {
  expect(cleanTitle(pasted)).toBe(title);
});
