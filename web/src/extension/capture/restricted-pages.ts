/** Pages where no browser allows extensions. Some never answer, so they aren't asked. */

const SCHEMES = new Set(['http:', 'https:', 'file:', 'blob:', 'data:', 'ftp:', 'filesystem:']);

/** Whether a tab shows such a page. The browser hides its address, as that of the source of a page. */
export function isRestrictedPage({ url }: Pick<chrome.tabs.Tab, 'url'>): boolean {
  if (!url) return true;
  return !/^about:(?:blank|srcdoc)/.test(url) && !SCHEMES.has(URL.parse(url)?.protocol ?? '');
}
