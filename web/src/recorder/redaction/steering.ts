/**
 * Values that route a call or steer a page, which stay in shaped bodies (docs/use/captures.md, "Bodies").
 * The server does the same (ticketbox/domain/captures/redaction/steering.py); one test compares both.
 */

const LONGEST_KEY = 40;
/** Compared without case, underscores and hyphens. */
const STEERS =
  /^(?:[a-z0-9$@]*(?:type|typename|kind|status|role|mode|variant|plugin|component|severity|element|elementname|tagname)(?:e?s)?|(?:state|level|action|event|op|operation|operationname|method|namespace|locale|lang|language|currency|unit|format|layout|theme|view|permission|scope|feature|flag)s?|in)$/;
const CODE_KEY = /^(?:error|status)?codes?$/;
const DOCUMENT_IDS = new Set([
  'sha256hash',
  'documentid',
  'docid',
  'queryid',
  'queryhash',
  'persistedqueryid',
]);
const IDENTIFIER = /^(?!(?:[^0-9]*[0-9]){4})[A-Za-z][A-Za-z0-9_.:/-]{0,63}$/;
const NUMBER = /^[0-9]{1,3}$/;
const CODE = /^(?!(?:[^0-9]*[0-9]){4})(?=.{3,64}$)[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/;
/** Under `code`, a single word can be that of a coupon. */
const NAMED_CODE =
  /^(?:(?:OK|ERROR|SUCCESS|FAILED|FORBIDDEN|UNAUTHENTICATED|UNAUTHORIZED)|[A-Za-z]+(?:[_.:/-][A-Za-z]+)+|[a-z]+(?:[A-Z][a-z]+)+)$/;
const DOCUMENT_ID = /^[A-Za-z0-9_-]{1,128}$/;
const DOCUMENT = /^[ \t\r\n]*(?:\{|(?:query|mutation|subscription|fragment)(?![A-Za-z0-9_]))/;
const LITERAL =
  /#[^\n]*|"""[^"]*(?:"{1,2}[^"]+)*(?:""")?|"(?:[^"\\\n]|\\[^\n])*"?|(?<![A-Za-z0-9_$.])-?[0-9]+(?:\.[0-9]+)?/g;

const IS_CLOSED = /^(?:"""[^]*"""|"(?!"")[^]*")$/;

/** Whether a text is a code wherever it is, such as `READY_STATE`. */
export function isCode(value: string): boolean {
  return CODE.test(value);
}

/** What stays of a value under a key: all of it, or a GraphQL document without literals; null for others. */
export function keepSteering(key: string, value: string): string | null {
  if (Array.from(key).length > LONGEST_KEY) return null;
  const name = key.replace(/[_-]/g, '').toLowerCase();
  if (name === 'query' && DOCUMENT.test(value) && /\}[ \t\r\n]*$/.test(value)) {
    const document = value.replace(LITERAL, blankLiteral);
    return document.replaceAll('""', '').includes('"') ? null : document;
  }
  if (DOCUMENT_IDS.has(name)) return DOCUMENT_ID.test(value) ? value : null;
  if (CODE_KEY.test(name)) return NAMED_CODE.test(value) || NUMBER.test(value) ? value : null;
  if (!STEERS.test(name)) return null;
  return IDENTIFIER.test(value) || NUMBER.test(value) ? value : null;
}

function blankLiteral(literal: string): string {
  if (literal[0] === '"') return IS_CLOSED.test(literal) ? '""' : '"';
  return literal[0] === '#' ? '' : '0';
}
