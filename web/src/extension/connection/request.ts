/** HTTP requests to the ticketbox. */

const TIMEOUT_MS = 60_000;

/** An error response; `status` is 0 if there was no response. The message is shown to the user. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
    /** In seconds. */
    readonly retryAfter: number | null = null,
  ) {
    super(message);
  }

  /** Whether the same request may succeed later. */
  get isTemporary(): boolean {
    return this.status === 0 || this.status === 408 || this.status === 429 || this.status >= 500;
  }
}

/** Send a request without cookies. Raises ApiError. */
export async function sendRequest(url: string, init: RequestInit = {}): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(url, {
      credentials: 'omit',
      cache: 'no-store',
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...init,
    });
  } catch {
    throw new ApiError(0, `Couldn’t reach ${new URL(url).host}.`);
  }
  if (response.ok) return response;
  const problem = (await response.json().catch(() => ({}))) as { [name: string]: unknown };
  const message =
    problem.detail ?? problem.error_description ?? problem.title ?? `The server returned ${response.status}.`;
  const status = response.status || 303; // a redirect that isn't followed has no status
  throw new ApiError(status, String(message), Number(response.headers.get('Retry-After')) || null);
}
