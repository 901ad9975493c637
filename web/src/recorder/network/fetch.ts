import { apply, now, promiseThen, wrap } from '../natives/natives';
import { attempt } from '../natives/restore-natives';
import { createShortError } from '../stack-trace';
import { isTextType, MAX_BODY_LENGTH, omitBody, readRequestBody, truncateBody, type Body } from './bodies';
import { captureAddress, ScriptRequest, type RequestLog } from './requests';

/** How long a stream that may never end is read. */
const MAX_STREAM_MS = 60_000;
/** The statuses of responses without a body (Fetch, 2.2.3). */
const NULL_BODY_STATUSES = new Set([101, 103, 204, 205, 304]);

/** Start recording fetch. The page gets the same Response object, one turn of the microtask queue later. */
export function recordFetch(log: RequestLog): void {
  wrap(window, 'fetch', (original) => ({
    call(this: unknown, ...args: unknown[]) {
      // the original fails for the same reason and reports it to the page
      const request = attempt(() => addRequest(log, args[0], args[1]));
      const promise = apply(original, this, args as never) as Promise<Response>;
      if (!request) return promise;
      return apply(promiseThen, promise, [
        (response: Response) => {
          try {
            addResponse(request, response, log.recordsBodies);
          } catch {
            // parts of the response that can't be read are left out of the record
          }
          return response;
        },
        (error: unknown) => {
          const isAborted = error instanceof DOMException && error.name === 'AbortError';
          request.fail(isAborted ? 'aborted' : messageOf(error));
          throw error;
        },
      ]);
    },
  }));
}

function addRequest(log: RequestLog, input: unknown, init: unknown): ScriptRequest {
  const request = input instanceof Request ? input : null;
  const options = (init ?? {}) as RequestInit;
  const original = options.headers ?? request?.headers;
  const headers = original ? new Headers(original) : {}; // copied, because the page may change the original
  const body: Body =
    options.body == null && request?.body
      ? omitBody('unavailable')
      : readRequestBody(options.body, log.recordsBodies);
  const method = options.method ?? request?.method;
  const name = method === undefined ? 'GET' : normalizeMethod(String(method));
  const url = captureAddress(request ? request.url : input);
  return log.add(new ScriptRequest('fetch', name, url, headers, body, createShortError()));
}

/** Normalize a method as the standard does (Fetch, 2.2.1). */
function normalizeMethod(method: string): string {
  return /^(?:delete|get|head|options|post|put)$/i.test(method) ? method.toUpperCase() : method;
}

function addResponse(request: ScriptRequest, response: Response, recordsBodies: boolean): void {
  request.endedAt = now();
  const { type, status } = response;
  request.isOpaque = type === 'opaque' || type === 'opaqueredirect';
  if (request.isOpaque) return;
  request.status = status || null;
  request.statusText = response.statusText;
  request.responseHeaders = response.headers;
  if (!recordsBodies) {
    // reading response.body would create a stream
    if (request.method !== 'HEAD' && !NULL_BODY_STATUSES.has(status))
      request.responseBody = omitBody('policy');
    return;
  }
  if (!response.body) return;
  if (!isTextType(response.headers.get('content-type') ?? undefined))
    request.responseBody = omitBody('binary');
  else {
    request.responseBody = omitBody('unavailable');
    const isEndless = /^text\/event-stream/i.test(response.headers.get('content-type')!);
    void readStart(response.clone().body!, (body) => (request.responseBody = body), isEndless).catch(
      () => {},
    );
  }
}

/** Read the beginning of a text stream, and cancel the rest. Of one that may never end, what came is kept meanwhile. */
async function readStart(
  stream: ReadableStream<Uint8Array>,
  keep: (body: Body) => void,
  isEndless: boolean,
): Promise<void> {
  const reader = stream.getReader();
  if (isEndless) setTimeout(() => void reader.cancel().catch(() => {}), MAX_STREAM_MS);
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  while (text.length <= MAX_BODY_LENGTH) {
    const { value, done } = await reader.read();
    if (done) return keep(truncateBody(text + decoder.decode(), bytes));
    bytes += value.length;
    text += decoder.decode(value, { stream: true });
    if (isEndless) keep(truncateBody(text));
  }
  void reader.cancel();
  keep(truncateBody(text));
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'failed';
}
