import { apply, method, now, then, wrap } from './natives';
import {
  cut,
  headersOf,
  isTextual,
  Kept,
  MOST_BODY,
  relative,
  sent,
  without,
  type Body,
  type Requests,
} from './requests';
import { brief } from './stack';

/** Listen to fetch. The page gets the very answer, one turn of the microtask queue later. */
export function listenToFetch(requests: Requests): void {
  wrap(window, 'fetch', (original) =>
    method(function (this: unknown, ...given: unknown[]) {
      const kept = noted(requests, given);
      const answer = apply(original, this, given as never) as Promise<Response>;
      if (!kept) return answer;
      return apply(then, answer, [
        (response: Response) => {
          try {
            answered(kept, response, requests.bodies);
          } catch {
            // what can't be read of an answer is left out of the record
          }
          return response;
        },
        (error: unknown) => {
          kept.fail(error instanceof DOMException && error.name === 'AbortError' ? 'aborted' : said(error));
          throw error;
        },
      ]);
    }),
  );
}

function noted(requests: Requests, [input, init]: unknown[]): Kept | null {
  try {
    const request = input instanceof Request ? input : null;
    const options = (init ?? {}) as RequestInit;
    const headers = options.headers
      ? headersOf(new Headers(options.headers))
      : request
        ? headersOf(request.headers)
        : {};
    const body: Body =
      options.body == null && request?.body ? without('unavailable') : sent(options.body, requests.bodies);
    const how = String(options.method ?? request?.method ?? 'GET');
    return requests.add(
      new Kept('fetch', usual(how), relative(request ? request.url : input), headers, body, brief()),
    );
  } catch {
    return null; // the call will fail by itself, in its own words
  }
}

/** The standard's own spelling of a method (Fetch, 2.2.1). */
function usual(how: string): string {
  return /^(?:delete|get|head|options|post|put)$/i.test(how) ? how.toUpperCase() : how;
}

function answered(kept: Kept, response: Response, bodies: boolean): void {
  kept.ended = now();
  kept.opaque = response.type === 'opaque' || response.type === 'opaqueredirect';
  if (kept.opaque) return;
  kept.status = response.status || null;
  kept.statusText = response.statusText;
  kept.answerHeaders = response.headers;
  if (!response.body) return;
  if (!bodies) kept.answerBody = without('policy');
  else if (!isTextual(response.headers.get('content-type') ?? undefined)) kept.answerBody = without('binary');
  else {
    kept.answerBody = without('unavailable');
    void read(response.clone().body!).then(
      (body) => (kept.answerBody = body),
      () => {},
    );
  }
}

/** The beginning of a text; the rest isn't waited for. */
async function read(stream: ReadableStream<Uint8Array>): Promise<Body> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  while (text.length <= MOST_BODY) {
    const { value, done } = await reader.read();
    if (done) return cut(text + decoder.decode(), bytes);
    bytes += value.length;
    text += decoder.decode(value, { stream: true });
  }
  void reader.cancel();
  return cut(text);
}

function said(error: unknown): string {
  return error instanceof Error ? error.message : 'failed';
}
