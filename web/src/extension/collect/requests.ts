import type { NetworkEntry } from '../shapes';
import { bytesOf, now } from './natives';
import { Ring } from './ring';
import { framesOf } from './stack';

export const MOST_BODY = 16_384;
/** The statuses of answers without a body (Fetch, 2.2.3). */
export const NULL_BODY = new Set([101, 103, 204, 205, 304]);
const MOST_HEADERS = 100;
const MOST_HEADER = 8_192;
const TEXTUAL =
  /^(?:text\/|application\/(?:[\w.+-]*\+)?(?:json|xml|javascript|x-www-form-urlencoded|graphql))/i;

type Side = NonNullable<NetworkEntry['request']>;
export type Body = Required<Pick<Side, 'body' | 'bytes' | 'omitted_reason'>>;

/** No body, or one that is left out for a reason. */
export function without(reason: Body['omitted_reason'] = null, bytes: number | null = null): Body {
  return { body: null, bytes, omitted_reason: reason };
}

/** A request that the page made by script, while it is under way and after. */
export class Kept {
  readonly began = now();
  ended: number | null = null;
  status: number | null = null;
  statusText = '';
  answerHeaders: Kept['headers'] = {};
  answerBody = without();
  error: string | null = null;
  opaque = false;

  constructor(
    readonly type: 'fetch' | 'xhr',
    readonly method: string,
    /** With what it is relative to; put together when somebody asks. */
    readonly url: { given: string; base: string },
    /** As the browser gives them, where the page can't change them any more; read when somebody asks. */
    readonly headers: Record<string, string> | Headers | string,
    readonly body: Body,
    /** Its stack is written out when somebody asks. */
    readonly at: Error,
  ) {}

  fail(error: string): void {
    this.error ??= error.slice(0, 500);
    this.ended ??= now();
  }

  entry(): NetworkEntry {
    const headers = headersOf(this.answerHeaders);
    return {
      id: '-',
      ts: this.began,
      method: this.method.slice(0, 32),
      url: absolute(this.url),
      status: this.status,
      status_text: this.statusText,
      type: this.type,
      duration_ms: this.ended === null ? null : Math.max(0, this.ended - this.began),
      request: { headers: headersOf(this.headers), ...this.body },
      response: {
        headers,
        ...(this.opaque ? without('unavailable') : this.answerBody),
        mime: headers['content-type']?.split(';')[0]?.trim() ?? null,
      },
      initiator: framesOf(this.at.stack ?? '')[0]?.url ?? null,
      error: this.error,
      from_cache: false,
      frame: null,
    };
  }
}

export class Requests {
  readonly ring = new Ring<Kept>(2_000, 8_000_000);

  /** `bodies` says that a project's policy wants the texts of requests and responses. */
  constructor(readonly bodies: boolean) {}

  add(kept: Kept): Kept {
    this.ring.push(kept, 500 + kept.url.given.length + (kept.body.body?.length ?? 0));
    return kept;
  }
}

/** An address as it was given, cut where no address is that long. */
export function relative(given: unknown): Kept['url'] {
  return { given: String(given).slice(0, 65_536), base: document.baseURI };
}

/** An absolute address without a fragment, as far as one can be made. */
function absolute({ given, base }: Kept['url']): string {
  try {
    const url = new URL(given, base);
    url.hash = '';
    return url.href.slice(0, 16_384);
  } catch {
    return given.slice(0, 16_384);
  }
}

function headersOf(headers: Kept['headers']): Record<string, string> {
  if (typeof headers !== 'string' && !(headers instanceof Headers)) return headers;
  const all = typeof headers === 'string' ? lines(headers) : [...headers];
  return Object.fromEntries(
    all.slice(0, MOST_HEADERS).map(([name, value]) => [name, value.slice(0, MOST_HEADER)]),
  );
}

/** The headers as XMLHttpRequest gives all of them. */
function lines(text: string): [string, string][] {
  return text
    .split('\r\n')
    .map((line) => [line, line.indexOf(':')] as const)
    .filter(([, colon]) => colon > 0)
    .map(([line, colon]) => [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]);
}

/** What is sent, as far as it can be known without touching it. Forms are never read. */
export function sent(body: unknown, wanted: boolean): Body {
  if (body == null) return without();
  const bytes = sizeOf(body);
  if (!wanted) return without('policy', bytes);
  if (typeof body === 'string' || body instanceof URLSearchParams) return cut(String(body), bytes);
  if (body instanceof FormData || body instanceof ReadableStream) return without('unavailable', bytes);
  return without('binary', bytes);
}

export function cut(text: string, bytes: number | null = null): Body {
  return { body: text.slice(0, MOST_BODY), bytes, omitted_reason: text.length > MOST_BODY ? 'limit' : null };
}

export function isTextual(type: string | undefined): boolean {
  return type !== undefined && TEXTUAL.test(type) && !type.startsWith('text/event-stream');
}

function sizeOf(body: unknown): number | null {
  if (typeof body === 'string') return body.length < 65_536 ? bytesOf(body) : null;
  if (body instanceof Blob) return body.size;
  return body instanceof ArrayBuffer || ArrayBuffer.isView(body) ? body.byteLength : null;
}
