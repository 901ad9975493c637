import { expect, test } from 'vitest';
import { cleanFile, InvalidMap, PageMap } from '../../../src/extension/source-maps/page-map';

const SOURCE = `export function loadCart(id) {
  return parse(id);
}

const parse = (id) => {
  throw new TypeError(\`no cart \${id}\`);
};
`;
/** Columns 0, 20 and 40 of the only line are in lines 1, 2 and 6 of the source. */
const MAPPINGS = 'AAAO,oBACE,oBAIA';
const build = (fields: object = {}) =>
  JSON.stringify({
    version: 3,
    sources: ['webpack://shop/./src/cart.js?1a2b'],
    sourcesContent: [SOURCE],
    names: [],
    mappings: MAPPINGS,
    ...fields,
  });
const find = (text: string, line: number, column: number) => {
  const place = new PageMap(text).find(line, column);
  return place && [place.file, place.line, place.text?.findFunction(place.line, place.column) ?? null];
};

test('a position is found with its file, line, function and the lines around it', () => {
  expect(find(build(), 1, 41)).toEqual(['src/cart.js', 6, 'parse']);
  expect(find(build(), 1, 25)).toEqual(['src/cart.js', 2, 'loadCart']);
  expect(new PageMap(build()).find(1, 41)!.text!.listContext(6)).toEqual(SOURCE.split('\n').slice(3, 8));
  expect(find(build({ sourcesContent: undefined }), 1, 41)).toEqual(['src/cart.js', 6, null]);
  expect(find(`)]}'\n${build()}`, 1, 41)).toEqual(['src/cart.js', 6, 'parse']);
  expect(find(build(), 2, 1)).toBeNull();
});

test('sections are read, but none in sections', () => {
  const map = JSON.parse(build()) as object;
  const index = (inner: object) =>
    JSON.stringify({ version: 3, sections: [{ offset: { line: 4, column: 100 }, map: inner }] });
  expect(find(index(map), 5, 141)).toEqual(['src/cart.js', 6, 'parse']);
  expect(find(index(map), 5, 99)).toBeNull();
  expect(find(index(map), 4, 141)).toBeNull();
  expect(() => find(index(JSON.parse(index(map)) as object), 5, 141)).toThrow(InvalidMap);
});

test.each([
  ['no JSON', '<!doctype html>'],
  ['another value', '"x"'],
  ['another version', build({ version: 2 })],
  ['no sources', build({ sources: 'x' })],
  ['too many sources', build({ sources: Array(50_001).fill('a') })],
  ['too many lines', build({ mappings: ';'.repeat(1_000_001) })],
  ['too many segments', build({ mappings: 'A,'.repeat(2_000_001) })],
  ['bad sections', JSON.stringify({ version: 3, sections: [{}] })],
  ['too many sections', JSON.stringify({ version: 3, sections: Array(10_001).fill({}) })],
  ['deep JSON', '['.repeat(200_000)],
])('%s is refused', (_, text) => {
  expect(() => find(text, 1, 41)).toThrow(InvalidMap);
});

test('values of other kinds, and the library’s own fields, do no harm', () => {
  expect(find(build({ sources: [{ toString: 1 }] }), 1, 41)).toBeNull();
  expect(find(build({ sourcesContent: [7], names: { 0: 'x' } }), 1, 41)).toEqual(['src/cart.js', 6, null]);
  expect(find(build({ _decodedMemo: {}, _decoded: [[[0, 0, 0, 0]]] }), 1, 41)).toEqual([
    'src/cart.js',
    6,
    'parse',
  ]);
  expect(find(build({ mappings: 'AADD' }), 1, 1)).toBeNull();
});

test('names of files are short relative paths', () => {
  expect(cleanFile('webpack:///./src/a.ts?x')).toBe('src/a.ts');
  expect(cleanFile('../../etc/passwd', '/root/')).toBe('root/etc/passwd');
  expect(cleanFile('C:\\shop\\a.ts')).toBe('shop/a.ts');
  expect(cleanFile('a\u202e\u0007\n.ts')).toBe('a.ts');
  expect(cleanFile('..')).toBe('(unknown)');
  expect(cleanFile('x'.repeat(5_000))).toHaveLength(400);
});
