import createClient from 'openapi-fetch';
import type { paths } from '../../../generated/api';
import { Problem } from './problem';

/** Every call of the REST API, typed from its OpenAPI document. */
export const api = createClient<paths>({
  baseUrl: '/api/v1',
  querySerializer: { array: { style: 'form', explode: false } },
});

api.use({
  async onResponse({ response, request }) {
    if (response.ok) return;
    const problem = await Problem.of(response);
    if (problem.status === 401 && !isPublic(request.url)) signInAgain();
    throw problem;
  },
  onError() {
    throw new Problem(0, 'unreachable', 'The server can’t be reached. Check the connection, then try again.');
  },
});

/** The data of a call that went through; openapi-fetch can't know that a refusal throws. */
export async function data<T>(call: Promise<{ data?: T }>): Promise<T> {
  return (await call).data as T;
}

/** Every item of a list, page after page. For lists that are short by nature. */
export async function everything<T>(
  next: (cursor: string | undefined) => Promise<{ data?: { items: T[]; next_cursor: string | null } }>,
): Promise<T[]> {
  const items: T[] = [];
  let cursor: string | undefined;
  do {
    const page = await data(next(cursor));
    items.push(...page.items);
    cursor = page.next_cursor ?? undefined;
  } while (cursor);
  return items;
}

/** Leave for the sign-in page, to come back here. */
export function signInAgain(): void {
  location.assign(`/signin?next=${encodeURIComponent(location.pathname + location.search)}`);
}

function isPublic(url: string): boolean {
  return url.includes('/invitations/accept/');
}
