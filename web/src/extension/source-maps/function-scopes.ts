/**
 * The functions of a JavaScript or TypeScript text, found by its tokens: enough to name the one around a position. The
 * server has the same (ticketbox/domain/captures/source_maps/functions.py), and a test compares them.
 *
 * Not a parser: where a text is ambiguous, a function can stay without a name. A text is read up to the limits.
 */
const MAX_TEXT = 1_000_000;
const MAX_TOKENS = 300_000;
/** Brackets that are open. */
const MAX_DEPTH = 1_000;
const MAX_REGEX = 500;

const WORD = String.raw`[\p{L}\p{N}_$]+`;
const TOKEN = new RegExp(
  [
    String.raw`(?<space>\s+|\/\/[^\n]*|\/\*[^]*?(?:\*\/|$))`,
    String.raw`"(?:\\[^]|[^"\\\n])*"?|'(?:\\[^]|[^'\\\n])*'?|\x60(?:\\[^]|[^\x60\\])*\x60?`,
    String.raw`[#@]?${WORD}`,
    String.raw`=>|\.\.\.|\?\.|[^]`,
  ].join('|'),
  'uy',
);
const REGEX = /^\/(?:\\[^]|\[(?:\\[^]|[^\]\\\n])*\]|[^/\\\n[])+\/[\p{L}\p{N}_]*/u;
const NAME = new RegExp(`^#?${WORD}$`, 'u');
const BEFORE_DIVISION = /[\p{L}\p{N})\]}_$"'`]$/u;
const NO_FUNCTION = new Set(['if', 'for', 'while', 'switch', 'catch', 'with', 'await']);
const BEFORE_REGEX = new Set('return typeof case in of do else void delete throw new await yield'.split(' '));
const STATEMENTS = new Set('const let var function class export return if for throw import'.split(' '));
const PAIRS = new Map([
  [')', '('],
  [']', '['],
  ['}', '{'],
]);
const OPENING = new Set(PAIRS.values());

interface Token {
  text: string;
  start: number;
  isAfterNewline: boolean;
}

interface Scope {
  start: number;
  end: number;
  name: string | null;
}

interface OpenBracket {
  token: number;
  /** The function whose body it opens. */
  body: Pick<Scope, 'start' | 'name'> | null;
  className: string | null;
}

/** List the functions of a text. */
export function readFunctions(text: string): Scope[] {
  return new Reader(text.slice(0, MAX_TEXT)).readScopes();
}

/** Name the innermost function around an offset; null if it has no name, or at the top level. */
export function findFunction(scopes: Scope[], offset: number): string | null {
  let best: Scope | null = null;
  for (const scope of scopes)
    if (scope.start <= offset && offset < scope.end && (!best || scope.start > best.start)) best = scope;
  return best?.name ?? null;
}

/** Reads tokens, and keeps what is open: brackets, and arrow functions without braces. */
class Reader {
  readonly #text: string;
  readonly #tokens: Token[] = [];
  /** The opening bracket's token, by the closing one's. */
  readonly #matches = new Map<number, number>();
  readonly #open: OpenBracket[] = [];
  readonly #arrows: { depth: number; start: number; name: string | null }[] = [];
  readonly #scopes: Scope[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  readScopes(): Scope[] {
    let [position, isAfterNewline] = [0, false];
    while (
      position < this.#text.length &&
      this.#open.length < MAX_DEPTH &&
      this.#tokens.length < MAX_TOKENS
    ) {
      const { text, isSpace } = this.#matchToken(position);
      if (isSpace) isAfterNewline ||= text.includes('\n');
      else {
        this.#readToken({ text, start: position, isAfterNewline });
        isAfterNewline = false;
      }
      position += text.length;
    }
    while (this.#open.length) this.#close(position);
    this.#endArrows(0, position);
    return this.#scopes;
  }

  #matchToken(position: number): { text: string; isSpace: boolean } {
    const next = this.#text[position + 1];
    if (this.#text[position] === '/' && next !== '/' && next !== '*') {
      const last = this.#tokens.at(-1)?.text ?? '';
      if (!last || BEFORE_REGEX.has(last) || !BEFORE_DIVISION.test(last)) {
        const match = REGEX.exec(this.#text.slice(position, position + MAX_REGEX));
        if (match) return { text: match[0], isSpace: false };
      }
    }
    TOKEN.lastIndex = position;
    const match = TOKEN.exec(this.#text)!;
    return { text: match[0], isSpace: match.groups!.space !== undefined };
  }

  #readToken(token: Token): void {
    const depth = this.#open.length;
    const { text } = token;
    if (text === ',' || text === ';' || (token.isAfterNewline && STATEMENTS.has(text)))
      this.#endArrows(depth, token.start);
    if (this.#tokens.at(-1)?.text === '=>' && text !== '{')
      this.#arrows.push({ depth, start: token.start, name: this.#nameArrow(this.#tokens.length - 1) });
    this.#tokens.push(token);
    const index = this.#tokens.length - 1;
    const opening = PAIRS.get(text);
    if (OPENING.has(text)) {
      const kind = text === '{' ? this.#classifyBrace(index) : { body: null, className: null };
      this.#open.push({ token: index, ...kind });
    } else if (opening) {
      this.#endArrows(depth, token.start);
      const last = this.#open.at(-1);
      if (last && this.#tokens[last.token]!.text === opening) {
        this.#matches.set(index, last.token);
        this.#close(token.start + 1);
      }
    }
  }

  #close(end: number): void {
    const { body } = this.#open.pop()!;
    if (body) this.#scopes.push({ ...body, end });
  }

  #endArrows(depth: number, end: number): void {
    while (this.#arrows.length && this.#arrows.at(-1)!.depth >= depth) {
      const { start, name } = this.#arrows.pop()!;
      this.#scopes.push({ start, end, name });
    }
  }

  #get(index: number): string {
    return this.#tokens[index]?.text ?? '';
  }

  /** The function that a brace opens, or the class. */
  #classifyBrace(brace: number): Omit<OpenBracket, 'token'> {
    const before = brace - 1;
    if (this.#get(before) === '=>')
      return { body: { start: this.#tokens[brace]!.start, name: this.#nameArrow(before) }, className: null };
    for (let back = before; back > Math.max(-1, before - 8); back -= 1) {
      const word = this.#get(back);
      if (word === 'class' && this.#get(back - 1) !== '.') {
        const name = this.#get(back + 1);
        const isNamed = name !== '{' && name !== 'extends';
        return { body: null, className: isNamed ? name : this.#nameAssignment(back) };
      }
      if (['{', '}', ';', ')', '=>'].includes(word)) break;
    }
    const closing = this.#findParametersEnd(before);
    if (closing === null) return { body: null, className: null };
    const opening = this.#matches.get(closing)!;
    const name = this.#nameFunction(opening - 1);
    const body = name === null ? null : { start: this.#tokens[opening]!.start, name: name || null };
    return { body, className: null };
  }

  /** The `)` of the parameters before a brace, over a type such as `: Promise<void>`. */
  #findParametersEnd(before: number): number | null {
    if (this.#get(before) === ')') return this.#matches.has(before) ? before : null;
    for (let back = before; back > Math.max(0, before - 12); back -= 1) {
      if (['{', '}', ';', '=', '=>', ','].includes(this.#get(back))) return null;
      if (this.#get(back) === ':' && this.#get(back - 1) === ')' && this.#matches.has(back - 1))
        return back - 1;
    }
    return null;
  }

  /** Name the function whose parameters follow a token: '' without a name, null if it is no function. */
  #nameFunction(start: number): string | null {
    const head = this.#get(start) === '*' ? start - 1 : start;
    const word = this.#get(head);
    if (word === 'function') return this.#nameAssignment(head) ?? '';
    if (NO_FUNCTION.has(word) || !NAME.test(word)) return null;
    const before = this.#get(head - 1);
    if (before === 'function' || (before === '*' && this.#get(head - 2) === 'function')) return word;
    const owner = this.#open.findLast(({ className }) => className)?.className;
    if (word === 'constructor' && owner) return `new ${owner}`;
    return owner && this.#open.at(-1)?.className ? `${owner}.${word}` : word;
  }

  #nameArrow(arrow: number): string | null {
    let head = arrow - 1;
    if (!this.#matches.has(head)) {
      // a type of the result
      for (let back = head; back > Math.max(0, head - 12); back -= 1) {
        if (this.#get(back) === ':' && this.#matches.has(back - 1)) {
          head = back - 1;
          break;
        }
        if ([',', ';', '=', '{', '}'].includes(this.#get(back))) break;
      }
    }
    return this.#nameAssignment(this.#matches.get(head) ?? head);
  }

  /** Name a function or class by what it is assigned to: `name = …`, `name: …`. */
  #nameAssignment(start: number): string | null {
    const index = this.#get(start - 1) === 'async' ? start - 2 : start - 1;
    const sign = this.#get(index);
    if (sign !== '=' && sign !== ':') return null;
    let name = this.#get(index - 1);
    if (sign === ':' && name === ')') return null;
    if (sign === '=' && this.#get(index - 2) === ':') name = this.#get(index - 3); // `name: Type = …`
    name = name.replace(/^["']+|["']+$/g, '');
    return NAME.test(name) ? name : null;
  }
}
