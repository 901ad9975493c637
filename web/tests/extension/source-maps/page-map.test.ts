import { expect, test } from 'vitest';
import corpus from '../../../../tests/domain/captures/source_maps.json';
import { cleanFile, InvalidMap, PageMap } from '../../../src/extension/source-maps/page-map';

interface Case {
  name: string;
  text?: string;
  map?: object;
  places: { at: [number, number]; place: [string, number, number] | null; context?: string[] }[];
}

const cases = corpus.maps as Case[];
const build = (fields: object = {}) => JSON.stringify({ ...cases[0]!.map, ...fields });
const find = (text: string, line: number, column: number) => {
  const place = new PageMap(text).find(line, column);
  return place && [place.file, place.line, place.column];
};
const PLACE = ['src/cart.js', 6, 9];

test.each(cases)('$name', ({ text, map, places }) => {
  for (const { at, place, context } of places) {
    expect([at, find(text ?? JSON.stringify(map), ...at)]).toEqual([at, place]);
    if (context)
      expect(
        new PageMap(text ?? JSON.stringify(map)).find(...at)!.text?.listContext(place![1]) ?? [],
      ).toEqual(context);
  }
});

test('sections are read, but none in sections', () => {
  const map = JSON.parse(build()) as object;
  const index = (inner: object) =>
    JSON.stringify({ version: 3, sections: [{ offset: { line: 4, column: 100 }, map: inner }] });
  expect(find(index(map), 5, 141)).toEqual(PLACE);
  expect(find(index(map), 5, 99)).toBeNull();
  expect(find(index(map), 4, 141)).toBeNull();
  expect(() => find(index(JSON.parse(index(map)) as object), 5, 141)).toThrow(InvalidMap);
});

test.each([
  ...(corpus.refused as [string, string][]),
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
  expect(find(build({ sourcesContent: [7] }), 1, 41)).toEqual(PLACE);
  expect(find(build({ _decodedMemo: {}, _decoded: [[[0, 0, 0, 0]]] }), 1, 41)).toEqual(PLACE);
});

test.each(corpus.files as [string, string, string][])('%j in %j is the file %j', (source, root, file) => {
  expect(cleanFile(source, root)).toBe(file);
});
