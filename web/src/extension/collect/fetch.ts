import { apply, now, then, wrap } from './natives';
import {
  cut,
  isTextual,
  Kept,
  MOST_BODY,
  NULL_BODY,
  relative,
  sent,
  without,
  type Body,
  type Requests,
} from './requests';
import { brief } from './stack';

/** Listen to fetch. The page gets the very answer, one turn of the microtask queue later. */
export function listenToFetch(requests: Requests): void {
  wrap(window, 'fetch', (original) => ({
    call(this: unknown, ...given: unknown[]) {
      const kept = noted(requests, given[0], given[1]);
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
    },
  }));
}

function noted(requests: Requests, input: unknown, init: unknown): Kept | null {
  try {
    const request = input instanceof Request ? input : null;
    const options = (init ?? {}) as RequestInit;
    const given = options.headers ?? request?.headers;
    const headers = given ? new Headers(given) : {}; // the page may change its own
    const body: Body =
      options.body == null && request?.body ? without('unavailable') : sent(options.body, requests.bodies);
    const how = options.method ?? request?.method;
    const method = how === undefined ? 'GET' : usual(String(how));
    const url = relative(request ? request.url : input);
    return requests.add(new Kept('fetch', method, url, headers, body, brief()));
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
  const { type, status } = response;
  kept.opaque = type === 'opaque' || type === 'opaqueredirect';
  if (kept.opaque) return;
  kept.status = status || null;
  kept.statusText = response.statusText;
  kept.answerHeaders = response.headers;
  if (!bodies) {
    // asking for the body would make a stream of it
    if (kept.method !== 'HEAD' && !NULL_BODY.has(status)) kept.answerBody = without('policy');
    return;
  }
  if (!response.body) return;
  if (!isTextual(response.headers.get('content-type') ?? undefined)) kept.answerBody = without('binary');
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
