/** Signing in, by OAuth in a tab of the browser (docs/use/oauth.md) or with an API token. */
import { appState, type Account, type PendingSignIn } from '../storage';
import { exchangeGrant } from './access-token';
import { loadTokenOwner } from './api';
import { findServer } from './find-server';
import { sendRequest } from './request';

const SCOPE = 'tickets:write tickets:assign';

/** Where the consent page redirects to. It is a page of the ticketbox itself, so the code goes nowhere else. */
function redirectUri(serverUrl: string): string {
  return `${serverUrl}/extension/connected`;
}

/** Open the consent page in a tab. Raises ApiError. */
export async function startSignIn(address: string): Promise<void> {
  const serverUrl = await findServer(address);
  const client = await registerClient(serverUrl);
  const [verifier, state] = [createRandomString(), createRandomString()];
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: client,
    redirect_uri: redirectUri(serverUrl),
    scope: SCOPE,
    resource: `${serverUrl}/api`,
    state,
    code_challenge: await createChallenge(verifier),
    code_challenge_method: 'S256',
  });
  const tab = await chrome.tabs.create({ url: `${serverUrl}/oauth/authorize?${query}` });
  const page = (await chrome.tabs.getCurrent())?.id;
  await appState.put('pending', { address: serverUrl, client, verifier, state, tab: tab.id!, page });
}

/** Register the extension and return its client id (RFC 7591). */
async function registerClient(serverUrl: string): Promise<string> {
  const registration = {
    client_name: 'ticketbox browser extension',
    redirect_uris: [redirectUri(serverUrl)],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    scope: SCOPE,
  };
  const response = await sendRequest(`${serverUrl}/oauth/register`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(registration),
  });
  return ((await response.json()) as { client_id: string }).client_id;
}

/** Finish the sign-in if a tab was redirected with its code. Returns null if it wasn't. Raises ApiError. */
export async function finishSignIn(tab: number, url: string): Promise<PendingSignIn | null> {
  const pending = await appState.get('pending');
  if (!pending || pending.tab !== tab || !url.startsWith(`${redirectUri(pending.address)}?`)) return null;
  const answer = new URL(url).searchParams;
  if (answer.get('state') !== pending.state || answer.get('iss') !== pending.address) return null;
  await appState.remove('pending');
  const code = answer.get('code');
  if (!code) return null;
  const { address, client, verifier } = pending;
  const tokens = await exchangeGrant(address, {
    grant_type: 'authorization_code',
    code,
    client_id: client,
    redirect_uri: redirectUri(address),
    code_verifier: verifier,
    resource: `${address}/api`,
  });
  await storeAccount({ address, client, ...tokens });
  return pending;
}

/** Sign in with a token from Settings > Agents and tokens. Raises ApiError. */
export async function signInWithToken(address: string, token: string): Promise<void> {
  const hasPath = new URL(address).pathname !== '/';
  const serverUrl = hasPath ? await findServer(address) : address;
  const secret = token.trim();
  await storeAccount({ address: serverUrl, secret, refresh: null, expires: null, client: null });
}

async function storeAccount(account: Omit<Account, 'name' | 'email' | 'scopes'>): Promise<void> {
  const owner = await loadTokenOwner(account.address, account.secret);
  await appState.put('account', { ...account, ...owner });
}

/** Remove the account and revoke its OAuth tokens. The outbox keeps its captures. */
export async function signOut(): Promise<void> {
  const account = await appState.get('account');
  await appState.remove('account');
  await appState.remove('projects');
  if (!account?.refresh) return;
  const body = new URLSearchParams({ token: account.refresh, client_id: account.client! });
  await sendRequest(`${account.address}/oauth/revoke`, { method: 'POST', body }).catch(() => {
    // the user can still revoke access under Settings > Connected apps
  });
}

function createRandomString(): string {
  return encodeBase64Url(crypto.getRandomValues(new Uint8Array(32)));
}

/** The challenge for a verifier (RFC 7636, 4.2). */
async function createChallenge(verifier: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier));
  return encodeBase64Url(new Uint8Array(digest));
}

function encodeBase64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replace(/\+/g, '-')
    .replace(/\//g, '_')
    .replace(/=+$/, '');
}
