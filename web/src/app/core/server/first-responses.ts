const FRESH_MS = 10_000;

/** A response whose body has arrived, so that reading it doesn't wait until the page is painted. */
class ReadResponse extends Response {
  readonly #body: string;

  constructor(body: string, init: ResponseInit) {
    super(body, init);
    this.#body = body;
  }

  override async text(): Promise<string> {
    return this.#body;
  }

  override async json(): Promise<unknown> {
    return JSON.parse(this.#body);
  }
}

/** What the server's page preloads, by address. It is read while the app starts, so that the first page is shown with it. */
const responses = new Map<string, Promise<Response>>();

for (const { href } of globalThis.document?.querySelectorAll<HTMLLinkElement>('link[as=fetch]') ?? []) {
  const response = fetch(href).then(async (each) => new ReadResponse(await each.text(), each));
  response.catch(() => undefined); // the caller learns of it
  responses.set(href, response);
}

/** Wait until what is preloaded has arrived, but no longer than so many milliseconds. */
export async function waitForFirstResponses(ms: number): Promise<void> {
  const timeout = new Promise((done) => setTimeout(done, ms));
  await Promise.race([Promise.allSettled(responses.values()), timeout]);
}

/** Return the response that was preloaded for a request, the first time; fetch any other. */
export function fetchOnce(request: Request): Promise<Response> {
  const preloaded = request.method === 'GET' ? responses.get(request.url) : undefined;
  responses.delete(request.url);
  return preloaded && performance.now() < FRESH_MS ? preloaded : fetch(request);
}
