/**
 * Which addresses are loaded for source maps. A page can name any address as its map. It is loaded by the page itself,
 * so the browser's own rules for the page hold, too.
 */
import { toMatchPattern } from '../connection/server-address';

/** IPv4 addresses that aren't public (RFC 6890); one of these in a name without a dot, or IPv6, counts as well. */
const PRIVATE_ADDRESS =
  /^(?:0|10|127|169\.254|192\.168|172\.(?:1[6-9]|2\d|3[01])|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7]))\.[\d.]+$/;
const PRIVATE_NAME = /(?:^|\.)(?:localhost|local|internal|intranet|lan|home\.arpa)$/;

/** Whether a script or map may be loaded for a page: of the same origin, or of a site that the extension may access. */
export async function mayLoad(address: string, page: string): Promise<boolean> {
  const [url, own] = [URL.parse(address), URL.parse(page)];
  if (!url || !own || !/^https?:$/.test(url.protocol) || !/^https?:$/.test(own.protocol)) return false;
  if (url.username || url.password) return false;
  if (url.origin === own.origin) return true;
  if (own.protocol === 'https:' && url.protocol === 'http:') return false;
  if (isPrivateHost(url.hostname) && !isPrivateHost(own.hostname)) return false;
  return chrome.permissions.contains({ origins: [toMatchPattern(url.href)] });
}

/** Whether a host is of an internal network by its name. */
export function isPrivateHost(host: string): boolean {
  const name = host.replace(/\.$/, '');
  return name.startsWith('[') || !name.includes('.') || PRIVATE_ADDRESS.test(name) || PRIVATE_NAME.test(name);
}
