/** Signing in: OAuth in a tab of the browser (docs/use/oauth.md), or a token that the person made. */
import { ask, redeemed, Refusal, whose } from './api';
import { state, type Account } from './store';

const SCOPE = 'tickets:write';

/** Where the consent page leads back to. It belongs to the ticketbox itself, so nothing leaves it. */
export function landing(address: string): string {
  return `${address}/extension/connected`;
}

/** An address as somebody types it; null when it can't be one. */
export function tidied(typed: string): string | null {
  const text = typed.trim();
  try {
    const local = /^(?:localhost|127\.|\[::1\])/.test(text);
    const url = new URL(/^https?:\/\//i.test(text) ? text : `${local ? 'http' : 'https'}://${text}`);
    return url.hostname && !url.username ? url.origin : null;
  } catch {
    return null;
  }
}

/** The match pattern of a site. Ports have no place in it: Firefox knows none there. */
export function patternOf(address: string): string {
  const { protocol, hostname } = new URL(address);
  return `${protocol}//${hostname}/*`;
}

/** Open the consent page. Raises Refusal. */
export async function beginSignIn(address: string): Promise<void> {
  const metadata = (await (await ask(`${address}/.well-known/oauth-authorization-server`)).json()) as {
    issuer?: string;
  };
  if (metadata.issuer !== address)
    throw new Refusal(400, `this ticketbox calls itself ${metadata.issuer}: use that address`);
  const registration = {
    client_name: 'ticketbox browser extension',
    redirect_uris: [landing(address)],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    scope: SCOPE,
  };
  const headers = { 'Content-Type': 'application/json' };
  const body = JSON.stringify(registration);
  const registered = await ask(`${address}/oauth/register`, { method: 'POST', headers, body });
  const { client_id: client } = (await registered.json()) as { client_id: string };
  const [verifier, key] = [random(), random()];
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: client,
    redirect_uri: landing(address),
    scope: SCOPE,
    resource: `${address}/api`,
    state: key,
    code_challenge: await challengeOf(verifier),
    code_challenge_method: 'S256',
  });
  const tab = await chrome.tabs.create({ url: `${address}/oauth/authorize?${query}` });
  await state.put('pending', { address, client, verifier, state: key, tab: tab.id! });
}

/** Take the answer that a tab was led to; says whether it was ours. Raises Refusal. */
export async function endSignIn(tab: number, address: string): Promise<boolean> {
  const pending = await state.get('pending');
  if (!pending || pending.tab !== tab || !address.startsWith(`${landing(pending.address)}?`)) return false;
  const answer = new URL(address).searchParams;
  if (answer.get('state') !== pending.state || answer.get('iss') !== pending.address) return false;
  await state.remove('pending');
  const code = answer.get('code');
  if (!code) return false;
  const { address: home, client, verifier } = pending;
  const form = {
    grant_type: 'authorization_code',
    code,
    client_id: client,
    redirect_uri: landing(home),
    code_verifier: verifier,
    resource: `${home}/api`,
  };
  const got = await redeemed(home, form);
  await keep({ address: home, client, ...got });
  return true;
}

/** Use a token that the person made under Settings > API tokens. Raises Refusal. */
export async function useToken(address: string, secret: string): Promise<void> {
  await keep({ address, secret: secret.trim(), refresh: null, expires: null, client: null });
}

async function keep(account: Omit<Account, 'name' | 'email'>): Promise<void> {
  const { name, email } = await whose(account.address, account.secret);
  await state.put('account', { ...account, name, email });
}

/** Forget the account, and let the server forget the grant. Captures that wait stay. */
export async function signOut(): Promise<void> {
  const account = await state.get('account');
  await state.remove('account');
  await state.remove('projects');
  if (!account?.refresh) return;
  const body = new URLSearchParams({ token: account.refresh, client_id: account.client! });
  await ask(`${account.address}/oauth/revoke`, { method: 'POST', body }).catch(() => {
    // the grant can be ended under Settings > Connected apps as well
  });
}

function random(): string {
  return base64(crypto.getRandomValues(new Uint8Array(32)));
}

async function challengeOf(verifier: string): Promise<string> {
  return base64(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))));
}

function base64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replace(/\+/g, '-')
    .replace(/\//g, '_')
    .replace(/=+$/, '');
}
