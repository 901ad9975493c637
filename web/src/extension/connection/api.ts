/** Calls to the REST API, with the token of the account. */
import type { Member } from '../../../generated/api';
import type { Project } from '../../recorder/capture-types';
import { appState, type Account } from '../storage';
import { loadAccount } from './access-token';
import { ApiError, sendRequest } from './request';

const CLIENT_HEADER = { 'X-Ticketbox-Client': 'extension' };

/** Call the API as the signed-in user. Raises ApiError. */
export async function callApi<T>(path: string, init: RequestInit = {}): Promise<T> {
  const account = await loadAccount();
  const headers = { Authorization: `Bearer ${account.secret}`, ...CLIENT_HEADER, ...init.headers };
  const response = await sendRequest(`${account.address}/api/v1${path}`, { ...init, headers });
  return response.json() as Promise<T>;
}

/** The user that a token belongs to, and its scopes. Raises ApiError, also if the token can't send captures. */
export async function loadTokenOwner(
  serverUrl: string,
  token: string,
): Promise<Pick<Account, 'name' | 'email' | 'scopes'>> {
  const headers = { Authorization: `Bearer ${token}`, ...CLIENT_HEADER };
  const response = await sendRequest(`${serverUrl}/api/v1/me`, { headers });
  const me = (await response.json()) as {
    user: { name: string; email: string };
    token: { scopes: string[] } | null;
  };
  if (me.token && !me.token.scopes.includes('tickets:write'))
    throw new ApiError(403, 'This token can’t create tickets: it doesn’t have the scope tickets:write.');
  const { name, email } = me.user;
  return { name, email, scopes: me.token?.scopes ?? [] };
}

/** All items of a list. Raises ApiError. */
async function loadAll<T>(path: string, filters: { [name: string]: string } = {}): Promise<T[]> {
  const items: T[] = [];
  for (let cursor: string | null = null; ;) {
    const query = new URLSearchParams({ ...filters, limit: '100', ...(cursor ? { cursor } : {}) });
    const page: { items: T[]; next_cursor: string | null } = await callApi(`${path}?${query}`);
    items.push(...page.items);
    cursor = page.next_cursor;
    if (!cursor) return items;
  }
}

/** The members whom the token can assign to tickets of a project; none if it can't assign. Raises ApiError. */
export async function loadAssignableMembers({ id, company_id: company }: Project): Promise<Member[]> {
  const account = await appState.get('account');
  if (!account?.scopes.includes('tickets:assign')) return [];
  return loadAll<Member>(`/companies/${company}/members`, { project_id: id });
}

/** The projects that captures can be sent to; those from last time if the server can't be reached. Raises ApiError. */
export async function loadProjects(): Promise<Project[]> {
  try {
    const projects = await loadAll<Project>('/projects');
    await appState.put('projects', projects);
    return projects;
  } catch (error) {
    const stored = await appState.get('projects');
    if (stored && error instanceof ApiError && error.isTemporary) return stored;
    throw error;
  }
}
