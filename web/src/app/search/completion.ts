import { boot, type Filter } from '../core/boot';

/** What may stand at the caret of a query: the text from `start` to `end` becomes `insert`. */
export interface Completion {
  label: string;
  hint?: string;
  insert: string;
  start: number;
  end: number;
}

/** What may go on at the caret. `opened` says that a filter's value is being written, not yet a word. */
export interface Completions {
  opened: boolean;
  items: Completion[];
}

export interface Value {
  value: string;
  hint?: string;
}

const MOST = 8;
const TERM = /-?(?:[a-z]+:)?(?:"[^"]*(?:"|$)\*?|\S+)/g;
const PARTS = /^(-?)(?:([a-z]+):)?(.*)$/s;

/** The filter whose value is being written at the caret. */
export function filterAt(text: string, caret: number): Filter | undefined {
  const { key } = partsAt(text, caret);
  return boot.filters.find((each) => each.key === key);
}

/** Complete a query at the caret. `values` are those of the filter at the caret beside its fixed ones. */
export function complete(text: string, caret: number, values: Value[]): Completions {
  const { minus, key, written, start, end } = partsAt(text, caret);
  const filter = boot.filters.find((each) => each.key === key);
  if (filter) {
    const all = [...filter.values.map((value) => ({ value, hint: meaning(value) })), ...values];
    return { opened: true, items: valuesOf(`${minus}${key}:`, written, all, { text, start, end }) };
  }
  if (key !== undefined || !/^[a-z]*$/i.test(written)) return { opened: false, items: [] };
  const items = boot.filters
    .filter((each) => each.key.startsWith(written.toLowerCase()))
    .map((each) => ({
      label: `${each.key}:`,
      hint: each.about,
      insert: `${minus}${each.key}:`,
      start,
      end,
    }));
  return { opened: false, items };
}

/** A place in characters as one in JavaScript's units. */
export function unitsOf(text: string, characters: number): number {
  return [...text].slice(0, characters).join('').length;
}

/** The term at the caret, up to the caret. */
function partsAt(text: string, caret: number) {
  const term = [...text.matchAll(TERM)].find(
    ({ index, 0: { length } }) => index < caret && caret <= index + length,
  );
  const start = term?.index ?? caret;
  const end = start + (term?.[0].length ?? 0);
  const [, minus = '', key, written = ''] = PARTS.exec(text.slice(start, caret))!;
  return { minus, key, written, start, end };
}

function valuesOf(
  before: string,
  written: string,
  all: Value[],
  { text, start, end }: { text: string; start: number; end: number },
): Completion[] {
  const quoted = written.startsWith('"');
  const comma = quoted ? -1 : written.lastIndexOf(',');
  const others = written.slice(0, comma + 1);
  const wanted = written
    .slice(comma + 1)
    .replaceAll('"', '')
    .toLowerCase();
  const named = new Set(others.toLowerCase().split(','));
  const begins = (each: Value) => Number(!each.value.toLowerCase().startsWith(wanted));
  const fitting = all
    .filter(({ value, hint = '' }) => {
      const words = `${value} ${hint}`.toLowerCase();
      return wanted === '' || words.startsWith(wanted) || words.includes(` ${wanted}`);
    })
    .filter(({ value }) => !named.has(value.toLowerCase()) && !value.includes('"'))
    .filter(({ value }) => !others || !/[\s,]/.test(value))
    .sort((a, b) => begins(a) - begins(b));
  // what is written whole already needs no help
  if (fitting.some(({ value }) => [others + value, `"${value}"`].includes(written))) return [];
  return fitting.slice(0, MOST).map(({ value, hint }) => ({
    label: value,
    hint,
    insert: `${before}${others}${/[\s,]/.test(value) ? `"${value}"` : value}${text[end] === ' ' ? '' : ' '}`,
    start,
    end,
  }));
}

function meaning(value: string): string | undefined {
  const days = /^>(\d+)d$/.exec(value)?.[1];
  return days && `in the last ${days} days`;
}
