/** Parse the address of a ticketbox, or of one of its pages, as a person enters it; null if it isn't one. */
export function parseServerAddress(input: string): string | null {
  const text = input.trim();
  try {
    const isLocal = /^(?:localhost|127\.|\[::1\])/.test(text);
    const url = new URL(/^https?:\/\//i.test(text) ? text : `${isLocal ? 'http' : 'https'}://${text}`);
    return url.hostname && !url.username ? url.origin + url.pathname.replace(/\/+$/, '') : null;
  } catch {
    return null;
  }
}

/** The match pattern of a site. It has no port, because Firefox doesn't support ports in patterns. */
export function toMatchPattern(url: string): string {
  const { protocol, hostname } = new URL(url);
  return `${protocol}//${hostname}/*`;
}
