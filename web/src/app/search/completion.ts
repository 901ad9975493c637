import type { Filter } from '../core/server/boot';

/** A completion of a query: replaces the text from `start` to `end` by `insert`. */
export interface Completion {
  label: string;
  hint?: string;
  insert: string;
  start: number;
  end: number;
}

/** The completions at the caret. `inValue`: the caret is in the value of a filter. */
export interface Completions {
  inValue: boolean;
  items: Completion[];
}

export interface Value {
  value: string;
  hint?: string;
}

const MAX_ITEMS = 8;
const TERM = /-?(?:[a-z]+:)?(?:"(?:[^"\\]|\\"?)*(?:"|$)\*?|\S+)/g;
const TERM_PARTS = /^(-?)(?:([a-z]+):)?(.*)$/s;

/** The filter whose value the caret is in. */
export function filterAt(filters: Filter[], text: string, caret: number): Filter | undefined {
  const { key } = termAt(text, caret);
  return filters.find((each) => each.key === key);
}

/** Complete a query at the caret. `values` are added to the fixed values of the filter at the caret. */
export function complete(filters: Filter[], text: string, caret: number, values: Value[]): Completions {
  const { minus, key, written, start, end } = termAt(text, caret);
  const filter = filters.find((each) => each.key === key);
  if (filter) {
    const all = [...filter.values.map((value) => ({ value, hint: describeValue(value) })), ...values];
    return { inValue: true, items: completeValue(`${minus}${key}:`, written, all, { text, start, end }) };
  }
  if (key !== undefined || !/^[a-z]*$/i.test(written)) return { inValue: false, items: [] };
  const items = filters
    .filter((each) => each.key.startsWith(written.toLowerCase()))
    .map((each) => ({
      label: `${each.key}:`,
      hint: each.about,
      insert: `${minus}${each.key}:`,
      start,
      end,
    }));
  return { inValue: false, items };
}

/** Convert a position in characters (code points) to UTF-16 code units. */
export function toCodeUnits(text: string, characters: number): number {
  return [...text].slice(0, characters).join('').length;
}

/** Parse the term at the caret, up to the caret. */
function termAt(text: string, caret: number) {
  const term = [...text.matchAll(TERM)].find(
    ({ index, 0: { length } }) => index < caret && caret <= index + length,
  );
  const start = term?.index ?? caret;
  const end = start + (term?.[0].length ?? 0);
  const [, minus = '', key, written = ''] = TERM_PARTS.exec(text.slice(start, caret))!;
  return { minus, key, written, start, end };
}

function completeValue(
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
    .replace(/^"|(?<!\\)"$/g, '')
    .replaceAll('\\"', '"')
    .toLowerCase();
  const used = new Set(others.toLowerCase().split(','));
  const isInfix = (each: Value) => Number(!each.value.toLowerCase().startsWith(wanted));
  const matching = all
    .filter(({ value, hint = '' }) => {
      const words = `${value} ${hint}`.toLowerCase();
      return wanted === '' || words.startsWith(wanted) || words.includes(` ${wanted}`);
    })
    .filter(({ value }) => !used.has(value.toLowerCase()))
    .filter(({ value }) => !others || !/[\s,"]/.test(value))
    .sort((a, b) => isInfix(a) - isInfix(b));
  // a complete value needs no completion
  if (matching.some(({ value }) => [others + value, quote(value)].includes(written))) return [];
  return matching.slice(0, MAX_ITEMS).map(({ value, hint }) => ({
    label: value,
    hint,
    insert: `${before}${others}${/[\s,"]/.test(value) ? quote(value) : value}${text[end] === ' ' ? '' : ' '}`,
    start,
    end,
  }));
}

/** Put a value in quotes; a backslash escapes those inside. */
function quote(value: string): string {
  return `"${value.replaceAll('"', '\\"')}"`;
}

function describeValue(value: string): string | undefined {
  if (value === '<today') return 'before today';
  const days = /^>(\d+)d$/.exec(value)?.[1];
  return days && `in the last ${days} days`;
}
