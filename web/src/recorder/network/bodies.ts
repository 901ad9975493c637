import type { NetworkEntry } from '../capture-types';
import { byteLength } from '../natives/natives';

export const MAX_BODY_LENGTH = 16_384;
/** What is sent of a message, and what is kept of it before. */
export const MAX_MESSAGE = 400;
const MAX_MESSAGE_TEXT = 2_048;
const TEXT_TYPE =
  /^(?:text\/|application\/(?:[\w.+-]*\+)?(?:json|xml|javascript|x-www-form-urlencoded|graphql)|application\/(?:x-)?(?:ndjson|jsonl|jsonlines))/i;

export type Body = Required<Pick<NonNullable<NetworkEntry['request']>, 'body' | 'bytes' | 'omitted_reason'>>;

/** No body, or one that is omitted for a reason. */
export function omitBody(reason: Body['omitted_reason'] = null, bytes: number | null = null): Body {
  return { body: null, bytes, omitted_reason: reason };
}

/** The beginning of a text as a body. */
export function truncateBody(text: string, bytes: number | null = null): Body {
  const omitted_reason = text.length > MAX_BODY_LENGTH ? 'limit' : null;
  return { body: text.slice(0, MAX_BODY_LENGTH), bytes, omitted_reason };
}

/** The body of a request, as far as it can be read without consuming it. The fields of a form are never read. */
export function readRequestBody(body: unknown, recordsBodies: boolean): Body {
  if (body == null) return omitBody();
  const bytes = sizeOf(body);
  if (!recordsBodies) return omitBody('policy', bytes);
  if (typeof body === 'string' || body instanceof URLSearchParams) return truncateBody(String(body), bytes);
  if (body instanceof FormData || body instanceof ReadableStream) return omitBody('unavailable', bytes);
  return omitBody('binary', bytes);
}

/** A message of a socket: the beginning of a text, more than is sent, so that secrets in it are recognised. */
export function readMessage(data: unknown, recordsBodies: boolean): Body {
  const bytes = sizeOf(data);
  if (!recordsBodies) return omitBody('policy', bytes);
  if (typeof data !== 'string') return omitBody('binary', bytes);
  return {
    body: data.slice(0, MAX_MESSAGE_TEXT),
    bytes,
    omitted_reason: data.length > MAX_MESSAGE ? 'limit' : null,
  };
}

/** Whether a media type is text. */
export function isTextType(type: string | undefined): boolean {
  return type !== undefined && TEXT_TYPE.test(type);
}

function sizeOf(body: unknown): number | null {
  if (typeof body === 'string') return body.length < 65_536 ? byteLength(body) : null;
  if (body instanceof Blob) return body.size;
  return body instanceof ArrayBuffer || ArrayBuffer.isView(body) ? body.byteLength : null;
}
