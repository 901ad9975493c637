/** Reading a source map (ECMA-426). It comes from a page, so it can be anything; nothing that it names is fetched. */
import { TraceMap, traceSegment } from '@jridgewell/trace-mapping';

/** The server's limits for uploaded maps (ticketbox/domain/captures/source_maps/mappings.py). */
const MAX_SEGMENTS = 2_000_000;
const MAX_LINES = 1_000_000;
const MAX_SOURCES = 50_000;
const MAX_SECTIONS = 10_000;
const MAX_SOURCE_TEXT = 4_000_000;
const MAX_FILE = 400;
const AROUND_LINES = 2;
const MAX_CONTEXT_LINE = 200;

const PREFIX = ")]}'";
const SCHEME = /^[a-zA-Z][a-zA-Z0-9+.-]*:(?:\/\/[^/]*)?/;
/** Controls, and characters that reorder text: see unsafe_characters.py. */
const UNSAFE = /[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u206f\ufff9-\ufffb\ufffd]/g;

export class InvalidMap extends Error {}

/** A place in an author's file. Line and column begin at 1. */
export interface Place {
  file: string;
  line: number;
  column: number;
  text: SourceText | null;
}

interface Section {
  line: number;
  column: number;
  map: unknown;
}

/** A map in which positions of its script are looked up. Raises InvalidMap, also when it is used. */
export class PageMap {
  readonly #sections: Section[];
  readonly #maps = new Map<Section, SingleMap>();

  constructor(text: string) {
    const map = parseObject(text.startsWith(PREFIX) ? text.slice(text.indexOf('\n') + 1) : text);
    this.#sections = 'sections' in map ? readSections(map.sections) : [{ line: 0, column: 0, map }];
  }

  /** Find the place of a position in the script; lines and columns begin at 1. */
  find(line: number, column: number): Place | null {
    const [row, offset] = [line - 1, column - 1];
    const isBefore = (each: Section) => each.line < row || (each.line === row && each.column <= offset);
    const section = this.#sections.findLast(isBefore);
    if (!section) return null;
    let map = this.#maps.get(section);
    if (!map) this.#maps.set(section, (map = new SingleMap(section.map)));
    return map.find(row - section.line, row === section.line ? offset - section.column : offset);
  }
}

class SingleMap {
  readonly #sources: unknown[];
  readonly #contents: unknown[];
  readonly #root: string;
  readonly #map: TraceMap;
  readonly #texts = new Map<number, SourceText>();

  constructor(given: unknown) {
    const { version, sources, mappings, sourcesContent, sourceRoot, sections } = toObject(given);
    if (sections !== undefined) throw new InvalidMap('its sections have sections');
    if (version !== 3) throw new InvalidMap('only version 3 is supported');
    if (!Array.isArray(sources) || sources.length > MAX_SOURCES || typeof mappings !== 'string')
      throw new InvalidMap('it has no sources or no mappings');
    if (!isCountBelow(mappings, ';', MAX_LINES) || !isCountBelow(mappings, ',', MAX_SEGMENTS))
      throw new InvalidMap('it has too many mappings');
    this.#sources = sources;
    this.#contents = Array.isArray(sourcesContent) ? sourcesContent : [];
    this.#root = typeof sourceRoot === 'string' ? sourceRoot : '';
    // only what is checked: the library trusts its own fields in a map
    this.#map = new TraceMap({ version: 3, sources: [], names: [], mappings });
  }

  find(line: number, column: number): Place | null {
    if (line < 0 || column < 0) return null;
    const segment = traceSegment(this.#map, line, column);
    if (!segment || segment.length === 1) return null;
    const [, index, sourceLine, sourceColumn] = segment;
    const source = this.#sources[index];
    if (typeof source !== 'string' || sourceLine < 0 || sourceColumn < 0) return null;
    return {
      file: cleanFile(source, this.#root),
      line: sourceLine + 1,
      column: sourceColumn + 1,
      text: this.#findText(index),
    };
  }

  #findText(index: number): SourceText | null {
    const content = this.#contents[index];
    if (typeof content !== 'string' || content.length > MAX_SOURCE_TEXT) return null;
    const text = this.#texts.get(index) ?? new SourceText(content);
    this.#texts.set(index, text);
    return text;
  }
}

/** The text of an author's file. */
export class SourceText {
  readonly #lines: string[];

  constructor(text: string) {
    this.#lines = text.split('\n');
  }

  /** A line (from 1) with the lines around it, each cut to a length. */
  listContext(line: number): string[] {
    if (line > this.#lines.length) return [];
    return this.#lines
      .slice(Math.max(0, line - 1 - AROUND_LINES), line + AROUND_LINES)
      .map((each) => each.replace(/\r$/, '').slice(0, MAX_CONTEXT_LINE));
  }
}

/** The name of a source as people write it: a relative path without schemes, queries and `..`. */
export function cleanFile(source: string, root = ''): string {
  const text = SCHEME.test(source) || !root ? source : `${root.replace(/\/+$/, '')}/${source}`;
  const path = text.replaceAll('\\', '/').replace(SCHEME, '').split('?', 1)[0]!.replace(UNSAFE, '');
  const parts = path.split('/').filter((part) => part && part !== '.' && part !== '..');
  return parts.join('/').slice(-MAX_FILE) || '(unknown)';
}

function parseObject(text: string): { [name: string]: unknown } {
  try {
    return toObject(JSON.parse(text));
  } catch {
    throw new InvalidMap('it isn’t a source map');
  }
}

function toObject(value: unknown): { [name: string]: unknown } {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new InvalidMap('it isn’t a source map');
  return value as { [name: string]: unknown };
}

/** The sections of an index map, in order. */
function readSections(sections: unknown): Section[] {
  if (!Array.isArray(sections) || sections.length > MAX_SECTIONS)
    throw new InvalidMap('it has too many sections, or none');
  return sections.map((each: unknown) => {
    const { offset, map } = toObject(each);
    const { line, column } = toObject(offset);
    if (!Number.isInteger(line) || !Number.isInteger(column)) throw new InvalidMap('a section has no offset');
    return { line: line as number, column: column as number, map };
  });
}

function isCountBelow(text: string, sign: string, most: number): boolean {
  let count = 0;
  for (let at = text.indexOf(sign); at >= 0 && count <= most; at = text.indexOf(sign, at + 1)) count += 1;
  return count <= most;
}
