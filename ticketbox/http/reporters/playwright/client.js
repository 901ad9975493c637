/** Calls of the server's API. */

const READ_MS = 5_000; // a server that hangs doesn't hold up a run that passes
const WRITE_MS = 30_000;
const RETRIES = 3;
const LONGEST_WAIT = 15; // seconds

/** What one call sent isn't accepted. After any other refusal, the next call fails as well. */
const OF_ONE_CALL = [400, 409, 413, 415, 422, 500];

export class Unreachable extends Error {}

export class Refusal extends Error {
  constructor(status, { detail, errors = [] }) {
    super(detail ?? `the server answered ${status}`);
    this.isOfTrace = errors.some(({ field }) => field === 'trace');
    const isOfProject = errors.some(({ field }) => field === 'project_id');
    this.isOfOneCall = OF_ONE_CALL.includes(status) && !isOfProject;
  }
}

/** Whether nothing else can be reported either. */
export function isFinal(error) {
  return error instanceof Unreachable || (error instanceof Refusal && !error.isOfOneCall);
}

export class Client {
  constructor(url, token, deadline) {
    this.base = `${url.replace(/\/+$/, '')}/api/v1`;
    this.headers = { authorization: `Bearer ${token}`, 'user-agent': 'ticketbox-playwright-reporter' };
    this.deadline = deadline;
  }

  /** Call an address and return the status and the JSON of the answer. Throws Refusal or Unreachable. */
  async call(method, address, content) {
    for (let attempt = 0; ; attempt += 1) {
      const response = await this.send(method, address, content);
      const wait = Number(response.headers.get('retry-after') ?? Infinity);
      if (response.status === 429 && attempt < RETRIES && wait <= LONGEST_WAIT) {
        await new Promise((resolve) => setTimeout(resolve, wait * 1_000));
        continue;
      }
      const answer = await response.json().catch(() => ({}));
      if (!response.ok) throw new Refusal(response.status, answer);
      return { status: response.status, answer };
    }
  }

  async send(method, address, content) {
    const left = this.deadline - Date.now();
    if (left <= 0) throw new Unreachable('it took too long');
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
        signal: AbortSignal.timeout(Math.min(left, method === 'GET' ? READ_MS : WRITE_MS)),
      });
    } catch (error) {
      throw new Unreachable(`can't reach ${this.base} (${error.cause?.code ?? error.name})`, {
        cause: error,
      });
    }
  }
}
