/**
 * Secrets whose names are in another list: `(name, password) VALUES (…)`, `Key (api_key)=(…)`, tables and CSV.
 * As on the server.
 */
type Span = readonly [number, number];
type IsName = (name: string) => boolean;
/** `isLoose`: the value must look like a secret. */
type IsSecret = (name: string, value: string, isLoose: boolean) => boolean;

const MAX_COLUMNS = 64;
const MAX_HEADER = 600;
const LISTS = /\(([^()]{3,1000})\)[ \t\r\n]{0,8}(?:=|values)[ \t\r\n]{0,8}\(/gi;
const ITEM =
  /[ \t\r\n]{0,40}(?:'((?:[^'\\]|\\[\s\S]|''){0,2048})'|"((?:[^"\\]|\\[\s\S]){0,2048})"|([^,'"()[\]\r\n]{0,2048})(?:\([^()]{0,200}\))?)[ \t\r\n]{0,40}([,)\]])/dy;
const NEXT_ROW = /[ \t\r\n]{0,8},[ \t\r\n]{0,8}\(/y;
const PARAMETERS =
  /[^[\](){}]{0,80}?(?:params|parameters|bindings|args|with|values)[^[\](){}\r\n]{0,40}[[(]/iy;
const PLACEHOLDER = /^(?:\?|\$[0-9]{1,3}|%s|:[A-Za-z_0-9]{1,60})$/;
const AROUND_NAME = /^[ \t\r\n`"'[]+|[ \t\r\n`"'\]]+$/g;
const DELIMITER = /[|\t;,]/;
const NAME = /^[A-Za-z_][A-Za-z0-9_ .()/-]{0,40}$/;

/** Find the secrets in lists of values that follow a list of names, as SQL and its errors have them. */
export function findInLists(text: string, isName: IsName, isSecret: IsSecret): Span[] {
  const found: Span[] = [];
  let position = 0;
  for (;;) {
    LISTS.lastIndex = position;
    const match = LISTS.exec(text);
    if (!match) return found;
    position = LISTS.lastIndex;
    const names = match[1]!.split(',').map((name) => name.replace(AROUND_NAME, ''));
    if (names.length > MAX_COLUMNS || !names.some(isName)) continue;
    let spans: Span[];
    [spans, position] = readList(text, position);
    if (spans.every(([start, end]) => PLACEHOLDER.test(text.slice(start, end))))
      [spans, position] = readListAfter(PARAMETERS, text, position);
    while (spans.length === names.length) {
      spans.forEach(([start, end], index) => {
        if (isSecret(names[index]!, text.slice(start, end), false)) found.push([start, end]);
      });
      [spans, position] = readListAfter(NEXT_ROW, text, position);
    }
  }
}

/** Find the secrets in the rows of tables, under a line of names with commas, semicolons, tabs or bars. */
export function findInTables(text: string, isName: IsName, isSecret: IsSecret): Span[] {
  const found: Span[] = [];
  let delimiter = '';
  let names: string[] = [];
  let start = 0;
  while (start < text.length) {
    const next = text.indexOf('\n', start);
    const end = next < 0 ? text.length : next;
    const line = text.slice(start, end);
    if (delimiter && line.includes(delimiter)) {
      const cells = splitLine(text, start, end, delimiter);
      if (cells.length === names.length)
        cells.forEach((cell, index) => {
          if (names[index] && isSecret(names[index]!, text.slice(...cell), true)) found.push(cell);
        });
    } else {
      delimiter = '';
      const first = line.length <= MAX_HEADER ? DELIMITER.exec(line)?.[0] : undefined;
      if (first) {
        const cells = splitLine(text, start, end, first).map((cell) => text.slice(...cell));
        const filled = cells.filter(Boolean);
        if (filled.length > 1 && filled.every((cell) => NAME.test(cell)) && filled.some(isName)) {
          delimiter = first;
          names = cells.map((cell) => (cell && isName(cell) ? cell : ''));
        }
      }
    }
    start = end + 1;
  }
  return found;
}

function readListAfter(pattern: RegExp, text: string, position: number): [Span[], number] {
  pattern.lastIndex = position;
  return pattern.exec(text) ? readList(text, pattern.lastIndex) : [[], position];
}

/** Read the items of a list after its bracket: where they are, without quotes, and where the list ends. */
function readList(text: string, position: number): [Span[], number] {
  const spans: Span[] = [];
  let start = position;
  while (spans.length <= MAX_COLUMNS) {
    ITEM.lastIndex = start;
    const item = ITEM.exec(text);
    if (!item) break;
    start = ITEM.lastIndex;
    spans.push((item.indices![1] ?? item.indices![2] ?? item.indices![3])!);
    if (item[4] !== ',') break;
  }
  return [spans, start];
}

/** Split a line into cells, without the spaces and quotes around them. */
function splitLine(text: string, position: number, end: number, delimiter: string): Span[] {
  const cells: Span[] = [];
  let start = position;
  while (start <= end) {
    const found = text.indexOf(delimiter, start);
    const stop = found < 0 || found > end ? end : found;
    let first = start;
    let last = stop;
    while (first < last && ' \t"'.includes(text[first]!)) first += 1;
    while (last > first && ' \t\r"'.includes(text[last - 1]!)) last -= 1;
    cells.push([first, last]);
    start = stop + 1;
  }
  return cells;
}
