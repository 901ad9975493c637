/** Calls of the server's API. */

const REQUEST_MS = 30_000;
const RETRIES = 3;
const LONGEST_WAIT = 15; // seconds

export class Refusal extends Error {
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export class Client {
  constructor(url, token, deadline) {
    this.base = `${url.replace(/\/+$/, '')}/api/v1`;
    this.headers = { authorization: `Bearer ${token}`, 'user-agent': 'ticketbox-playwright-reporter' };
    this.deadline = deadline;
  }

  /** Call an address and return the status and the JSON of the answer. Throws a Refusal, or why no answer came. */
  async call(method, address, content) {
    for (let attempt = 0; ; attempt += 1) {
      const response = await this.send(method, address, content);
      const wait = Number(response.headers.get('retry-after') ?? Infinity);
      if (response.status === 429 && attempt < RETRIES && wait <= LONGEST_WAIT) {
        await new Promise((resolve) => setTimeout(resolve, wait * 1_000));
        continue;
      }
      const answer = await response.json().catch(() => ({}));
      if (!response.ok)
        throw new Refusal(
          response.status,
          answer.code,
          answer.detail ?? `the server answered ${response.status}`,
        );
      return { status: response.status, answer };
    }
  }

  async send(method, address, content) {
    const left = this.deadline - Date.now();
    if (left <= 0) throw new Error('it took too long');
    const isForm = content instanceof FormData;
    try {
      return await fetch(this.base + address, {
        method,
        headers:
          content === undefined || isForm
            ? this.headers
            : { ...this.headers, 'content-type': 'application/json' },
        body: content === undefined || isForm ? content : JSON.stringify(content),
        redirect: 'error', // the token is for this server only
        signal: AbortSignal.timeout(Math.min(left, REQUEST_MS)),
      });
    } catch (error) {
      throw new Error(`can't reach ${this.base} (${error.cause?.code ?? error.name})`, { cause: error });
    }
  }
}
