import type { NetworkEntry } from '../shapes';
import { now } from './natives';
import { Ring } from './ring';
import { framesOf } from './stack';

export const MOST_BODY = 16_384;
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
  /** Those of an answer can't be changed by the page; they are read when somebody asks. */
  answerHeaders: Record<string, string> | Headers = {};
  answerBody = without();
  error: string | null = null;
  opaque = false;

  constructor(
    readonly type: 'fetch' | 'xhr',
    readonly method: string,
    /** With what it is relative to; put together when somebody asks. */
    readonly url: { given: string; base: string },
    readonly headers: Record<string, string>,
    readonly body: Body,
    /** Its stack is written out when somebody asks. */
    readonly at: Error,
  ) {}

  fail(error: string): void {
    this.error ??= error.slice(0, 500);
    this.ended ??= now();
  }

  entry(): NetworkEntry {
    const { answerHeaders: answer } = this;
    const headers = answer instanceof Headers ? headersOf(answer) : answer;
    return {
      id: '-',
      ts: this.began,
      method: this.method.slice(0, 32),
      url: absolute(this.url),
      status: this.status,
      status_text: this.statusText,
      type: this.type,
      duration_ms: this.ended === null ? null : Math.max(0, this.ended - this.began),
      request: { headers: this.headers, ...this.body },
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

export function headersOf(headers: Headers): Record<string, string> {
  const found: Record<string, string> = {};
  let count = 0;
  headers.forEach((value, name) => {
    if (++count <= 100) found[name] = value.slice(0, 8_192);
  });
  return found;
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
  if (typeof body === 'string') return body.length < 65_536 ? new TextEncoder().encode(body).length : null;
  if (body instanceof Blob) return body.size;
  return body instanceof ArrayBuffer || ArrayBuffer.isView(body) ? body.byteLength : null;
}
