import createClient from 'openapi-fetch';
import { withBase, withoutBase } from '../navigation/base';
import type { paths } from '../../../../generated/api';
import { Activity } from './activity';
import { fetchOnce } from './first-responses';
import { Problem } from './problem';
import { chooseKey, rememberLost } from './repeated-requests';
import { compareClocks } from './server-clock.svelte';

/** A client for every call of the REST API, typed from its OpenAPI document. Raises Problem. */
export const api = createClient<paths>({
  baseUrl: withBase('/api/v1'),
  fetch: fetchOnce,
  querySerializer: { array: { style: 'form', explode: false } },
});

const KEY = 'Idempotency-Key';
/** The addresses of operations that accept it: they create something. */
const CREATES = /\/(?:companies|projects|columns|labels|views|tickets|work|comments|replies)$/;
const activity = new Activity(window);
let isSigningOut = false;

/** What the requests that create something contain, by the request. */
const contents = new WeakMap<Request, string>();

api.use({
  async onRequest({ request }) {
    if (activity.isBackground()) request.headers.set('Ticketbox-Background', '1');
    if (request.method !== 'POST' || !CREATES.test(request.url) || request.headers.has(KEY)) return;
    const content = `${request.url} ${await request.clone().text()}`;
    contents.set(request, content);
    request.headers.set(KEY, chooseKey(content));
  },
  async onResponse({ response, request }) {
    compareClocks(response);
    if (response.ok) return;
    const problem = await Problem.fromResponse(response);
    if (problem.status === 401 && !isPublic(request.url)) redirectToSignIn();
    throw problem;
  },
  onError({ request }) {
    const content = contents.get(request);
    if (content) rememberLost(content, request.headers.get(KEY)!);
    throw new Problem(0, 'unreachable', 'The server can’t be reached. Check the connection, then try again.');
  },
});

/** Return the data of a successful call. openapi-fetch cannot know that an error status throws. */
export async function unwrap<T>(call: Promise<{ data?: T }>): Promise<T> {
  return (await call).data as T;
}

/** Fetch every page of a list. Only for lists that are always short. */
export async function fetchAll<T>(
  next: (cursor: string | undefined) => Promise<{ data?: { items: T[]; next_cursor: string | null } }>,
): Promise<T[]> {
  const items: T[] = [];
  let cursor: string | undefined;
  do {
    const page = await unwrap(next(cursor));
    items.push(...page.items);
    cursor = page.next_cursor ?? undefined;
  } while (cursor);
  return items;
}

/** Open the sign-in page, which returns to the present address, but not after a sign-out. */
export function redirectToSignIn(): void {
  const here = (withoutBase(location.pathname) ?? '/') + location.search;
  location.assign(withBase(isSigningOut ? '/signin' : `/signin?next=${encodeURIComponent(here)}`));
}

/** End one's own session with a call, and open the sign-in page. What still loads is refused, and leads there too. */
export async function signOut(end: () => Promise<unknown>): Promise<void> {
  isSigningOut = true;
  try {
    await end();
  } catch (error) {
    isSigningOut = false;
    throw error;
  }
  location.assign(withBase('/signin'));
}

function isPublic(url: string): boolean {
  return url.includes('/invitations/accept/');
}
