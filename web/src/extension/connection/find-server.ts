/** Finding the server that a person means. */
import { ApiError, sendRequest } from './request';

/**
 * The address of the server at an address or above it, because people copy the addresses of pages, and a server can be
 * under a path. Raises ApiError.
 */
export async function findServer(address: string): Promise<string> {
  const { origin } = new URL(address);
  for (let url = address; ; url = url.slice(0, url.lastIndexOf('/'))) {
    try {
      const issuer = await loadIssuer(url);
      if (issuer === url) return url;
      throw new ApiError(400, `The public URL of this ticketbox is ${issuer}. Enter that URL.`);
    } catch (error) {
      const isElsewhere = error instanceof SyntaxError || [303, 404].includes((error as ApiError).status);
      if (url === origin || !isElsewhere) throw error;
    }
  }
}

/** The issuer in the metadata at an address (RFC 8414). Raises ApiError, and SyntaxError for what isn't JSON. */
async function loadIssuer(url: string): Promise<string | undefined> {
  const response = await sendRequest(`${url}/.well-known/oauth-authorization-server`, { redirect: 'manual' });
  return ((await response.json()) as { issuer?: string }).issuer;
}
