/** Calls to the ticketbox. Every one carries the token, and no cookie ever. */
import type { Project } from './shapes';
import { state, type Account } from './store';

const EARLY = 60_000;
const LONGEST = 60_000;

/** A refusal; `status` 0 means that no answer came at all. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly retryAfter: number | null = null,
  ) {
    super(message);
  }

  /** Whether the same call may go through later, with nothing changed. */
  get passes(): boolean {
    return this.status === 0 || this.status === 408 || this.status === 429 || this.status >= 500;
  }
}

/** Call the REST API as who is signed in. Raises Refusal. */
export async function call<T>(path: string, init: RequestInit = {}): Promise<T> {
  const account = await fresh();
  const headers = {
    Authorization: `Bearer ${account.secret}`,
    'X-Ticketbox-Client': 'extension',
    ...init.headers,
  };
  return (await ask(`${account.address}/api/v1${path}`, { ...init, headers })).json() as Promise<T>;
}

/** One request, without cookies and with an end. Raises Refusal. */
export async function ask(address: string, init: RequestInit = {}): Promise<Response> {
  let answer: Response;
  try {
    const signal = AbortSignal.timeout(LONGEST);
    answer = await fetch(address, {
      credentials: 'omit',
      cache: 'no-store',
      redirect: 'error',
      signal,
      ...init,
    });
  } catch {
    throw new Refusal(0, `${new URL(address).host} doesn’t answer`);
  }
  if (answer.ok) return answer;
  const said = (await answer.json().catch(() => ({}))) as { [name: string]: unknown };
  const words = said.detail ?? said.error_description ?? said.title ?? `status ${answer.status}`;
  throw new Refusal(answer.status, String(words), Number(answer.headers.get('Retry-After')) || null);
}

/** The account with a secret that holds for a while yet. One refresh at a time, whichever page asks. */
async function fresh(): Promise<Account> {
  return navigator.locks.request('account', async () => {
    const account = await state.get('account');
    if (!account) throw new Refusal(401, 'you are not signed in');
    if (account.expires === null || account.expires - EARLY > Date.now()) return account;
    const form = { grant_type: 'refresh_token', refresh_token: account.refresh!, client_id: account.client! };
    const next = await redeemed(account.address, form).catch((problem: Refusal) => {
      throw problem.status === 400 ? new Refusal(401, 'the connection has ended: sign in again') : problem;
    });
    const renewed = { ...account, ...next };
    await state.put('account', renewed);
    return renewed;
  });
}

/** Exchange a code or a refresh token (RFC 6749, 4.1.3 and 6). */
export async function redeemed(
  address: string,
  form: { [name: string]: string },
): Promise<Pick<Account, 'secret' | 'refresh' | 'expires'>> {
  const answer = await ask(`${address}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) });
  const said = (await answer.json()) as { access_token: string; refresh_token: string; expires_in: number };
  return {
    secret: said.access_token,
    refresh: said.refresh_token,
    expires: Date.now() + said.expires_in * 1000,
  };
}

/** Who a secret belongs to. Raises Refusal. */
export async function whose(address: string, secret: string): Promise<{ name: string; email: string }> {
  const headers = { Authorization: `Bearer ${secret}`, 'X-Ticketbox-Client': 'extension' };
  const me = (await (await ask(`${address}/api/v1/me`, { headers })).json()) as {
    user: { name: string; email: string };
    token: { scopes: string[] } | null;
  };
  if (me.token && !me.token.scopes.includes('tickets:write'))
    throw new Refusal(403, 'this token lacks the scope tickets:write, which sending a capture needs');
  return me.user;
}

/** The projects that can be sent to; the last known ones when the server doesn't answer. */
export async function projects(): Promise<Project[]> {
  try {
    const found: Project[] = [];
    for (let cursor: string | null = null; ;) {
      const query = new URLSearchParams({ limit: '100', ...(cursor ? { cursor } : {}) });
      const page: { items: Project[]; next_cursor: string | null } = await call(`/projects?${query}`);
      found.push(...page.items);
      cursor = page.next_cursor;
      if (!cursor) break;
    }
    await state.put('projects', found);
    return found;
  } catch (problem) {
    const known = await state.get('projects');
    if (known && problem instanceof Refusal && problem.passes) return known;
    throw problem;
  }
}
