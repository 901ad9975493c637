/** The sites that are recorded from page load, as match patterns. */
import { appState } from '../storage';

export const ALL_SITES = '*://*/*';

/** The recorded sites for which the browser still grants permission. */
export async function getRecordedSites(): Promise<string[]> {
  const sites = (await appState.get('sites')) ?? [];
  const granted = await Promise.all(sites.map((site) => chrome.permissions.contains({ origins: [site] })));
  return sites.filter((_, index) => granted[index]);
}

/** Ask the browser for permission to record a site, and record it. Returns whether permission was granted. */
export async function requestRecording(site: string): Promise<boolean> {
  // stored before the answer: the browser's prompt closes the popup, and then only the background continues
  const permissions = { permissions: ['webRequest' as const], origins: [site, ...listSocketPatterns(site)] };
  const [granted] = await Promise.all([chrome.permissions.request(permissions), addSite(site)]);
  if (!granted) await removeRecordedSite(site);
  return granted;
}

/** The patterns of a site's sockets. Empty in Firefox, where the site's own pattern includes them. */
function listSocketPatterns(site: string): string[] {
  const manifest = chrome.runtime.getManifest() as chrome.runtime.ManifestV3;
  const declared: string[] = manifest.optional_host_permissions ?? [];
  const schemes = declared.flatMap((each) => /^wss?/.exec(each) ?? []);
  return schemes.map((scheme) => site.replace(/^[^:]+/, scheme));
}

async function addSite(site: string): Promise<void> {
  const sites = (await appState.get('sites')) ?? [];
  if (!sites.includes(site)) await appState.put('sites', [...sites, site]);
}

export async function removeRecordedSite(site: string): Promise<void> {
  const sites = (await appState.get('sites')) ?? [];
  await appState.put(
    'sites',
    sites.filter((each) => each !== site),
  );
}

/** Whether a URL is of a site. The pattern is one that `getRecordedSites` returns. */
export function matchesSite(pattern: string, url: string): boolean {
  const [, scheme, host = ''] = /^(.*?):\/\/(.*)\/\*$/.exec(pattern) ?? [];
  const { protocol, hostname } = URL.parse(url) ?? { protocol: '', hostname: '' };
  const hasScheme = scheme === '*' ? /^https?:$/.test(protocol) : `${scheme}:` === protocol;
  if (!hasScheme) return false;
  return (
    host === '*' || host === hostname || (host.startsWith('*.') && `.${hostname}`.endsWith(host.slice(1)))
  );
}

/** Whether all pages of a site are of another one; both are match patterns. */
export function coversSite(outer: string, inner: string): boolean {
  if (!outer.startsWith('*') && inner.startsWith('*')) return false;
  const host = inner.replace(/^.*:\/\/|\/\*$/g, '');
  if (host === '*') return outer === ALL_SITES || outer === inner;
  return matchesSite(outer, inner.replace(/^\*/, 'https').replace('//*.', '//any.').replace('*', ''));
}
