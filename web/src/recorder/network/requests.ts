import type { NetworkEntry } from '../capture-types';
import { now } from '../natives/natives';
import { RingBuffer } from '../ring-buffer';
import { parseStack, readStack } from '../stack-trace';
import { omitBody, type Body } from './bodies';
import { describeGraphqlErrors } from './graphql-errors';

const MAX_HEADERS = 100;
const MAX_MESSAGES = 50;
const MAX_HEADER_LENGTH = 8_192;

/** An address as the page passed it, with the base that it is relative to. */
export interface RequestAddress {
  address: string;
  base: string;
}
type SocketMessage = NonNullable<NetworkEntry['messages']>[number];
/** Headers as the browser returned them; they are converted when the record is read. */
type RawHeaders = Record<string, string> | Headers | string;

/** A request that a script of the page made: pending, complete or failed. */
export class ScriptRequest {
  readonly startedAt = now();
  endedAt: number | null = null;
  status: number | null = null;
  statusText = '';
  responseHeaders: RawHeaders = {};
  responseBody = omitBody();
  error: string | null = null;
  isOpaque = false;
  readonly #messages: SocketMessage[] = [];

  constructor(
    readonly type: 'fetch' | 'xhr' | 'websocket' | 'eventsource',
    readonly method: string,
    readonly url: RequestAddress,
    /** A copy that the page can't change. */
    readonly headers: RawHeaders,
    readonly body: Body,
    /** Created at the call. Formatting its stack is deferred until the record is read. */
    readonly callSite: Error,
  ) {}

  get isSocket(): boolean {
    return this.type === 'websocket' || this.type === 'eventsource';
  }

  /** Keep a message of a socket, with those before it that still have room. */
  addMessage(message: SocketMessage): void {
    this.#messages.push(message);
    if (this.#messages.length > MAX_MESSAGES) this.#messages.shift();
  }

  fail(error: string): void {
    this.error ??= error.slice(0, 500);
    this.endedAt ??= now();
  }

  toEntry(): NetworkEntry {
    const headers = convertHeaders(this.responseHeaders);
    const url = resolveAddress(this.url);
    return {
      id: '-',
      ts: this.startedAt,
      method: this.method.slice(0, 32),
      url,
      status: this.status,
      status_text: this.statusText,
      type: this.type,
      duration_ms: this.endedAt === null ? null : Math.max(0, this.endedAt - this.startedAt),
      request: { headers: convertHeaders(this.headers), ...this.body },
      response: {
        headers,
        ...(this.isOpaque ? omitBody('unavailable') : this.responseBody),
        mime: headers['content-type']?.split(';')[0]?.trim() ?? null,
      },
      initiator: parseStack(readStack(this.callSite))[0]?.url ?? null,
      error: this.error ?? describeGraphqlErrors(url, this.body.body, this.responseBody.body),
      from_cache: false,
      ...(this.#messages.length ? { messages: [...this.#messages] } : {}),
      frame: null,
      document: 0,
    };
  }
}

export class RequestLog {
  readonly buffer = new RingBuffer<ScriptRequest>(2_000, 8_000_000);

  /** `recordsBodies`: the project's policy includes the bodies of requests and responses. */
  constructor(readonly recordsBodies: boolean) {}

  add(request: ScriptRequest): ScriptRequest {
    const messages = request.isSocket ? MAX_MESSAGES * 1_000 : 0;
    this.buffer.push(request, messages + 500 + request.url.address.length + (request.body.body?.length ?? 0));
    return request;
  }
}

/** Keep an address and its base for `resolveAddress`; an extremely long one is cut. */
export function captureAddress(address: unknown): RequestAddress {
  return { address: String(address).slice(0, 65_536), base: document.baseURI };
}

/** The absolute address without its fragment; the text as passed if it isn't an address. */
function resolveAddress({ address, base }: RequestAddress): string {
  try {
    const url = new URL(address, base);
    url.hash = '';
    return url.href.slice(0, 16_384);
  } catch {
    return address.slice(0, 16_384);
  }
}

function convertHeaders(headers: RawHeaders): Record<string, string> {
  if (typeof headers !== 'string' && !(headers instanceof Headers)) return headers;
  const all = typeof headers === 'string' ? parseHeaderLines(headers) : [...headers];
  return Object.fromEntries(
    all.slice(0, MAX_HEADERS).map(([name, value]) => [name, value.slice(0, MAX_HEADER_LENGTH)]),
  );
}

/** Parse the text that XMLHttpRequest's `getAllResponseHeaders` returns. */
function parseHeaderLines(text: string): [string, string][] {
  return text
    .split('\r\n')
    .map((line) => [line, line.indexOf(':')] as const)
    .filter(([, colon]) => colon > 0)
    .map(([line, colon]) => [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]);
}
