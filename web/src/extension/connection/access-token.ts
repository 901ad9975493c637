/** OAuth access tokens: exchanged, and refreshed before they expire. */
import { appState, type Account } from '../storage';
import { ApiError, sendRequest } from './request';

const REFRESH_BEFORE_MS = 60_000;

/** The account with a token that is valid for a while. Only one page refreshes it at a time. Raises ApiError. */
export async function loadAccount(): Promise<Account> {
  return navigator.locks.request('account', async () => {
    const account = await appState.get('account');
    if (!account) throw new ApiError(401, 'You are not signed in.');
    if (account.expires === null || account.expires - REFRESH_BEFORE_MS > Date.now()) return account;
    const form = { grant_type: 'refresh_token', refresh_token: account.refresh!, client_id: account.client! };
    const tokens = await exchangeGrant(account.address, form).catch((error: ApiError) => {
      throw error.status === 400 ? new ApiError(401, 'The connection has ended. Sign in again.') : error;
    });
    const refreshed = { ...account, ...tokens };
    await appState.put('account', refreshed);
    return refreshed;
  });
}

/** Exchange a code or a refresh token for an access token (RFC 6749, 4.1.3 and 6). Raises ApiError. */
export async function exchangeGrant(
  serverUrl: string,
  form: { [name: string]: string },
): Promise<Pick<Account, 'secret' | 'refresh' | 'expires'>> {
  const response = await sendRequest(`${serverUrl}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams(form),
  });
  const tokens = (await response.json()) as {
    access_token: string;
    refresh_token: string;
    expires_in: number;
  };
  return {
    secret: tokens.access_token,
    refresh: tokens.refresh_token,
    expires: Date.now() + tokens.expires_in * 1000,
  };
}
