/** The identity that the page's server signed, in the attribute `data-identity`. The server checks it; here it is shown. */

export interface Identity {
  token: string;
  /** What the person sees about themselves before sending. */
  shown: string;
}

/** Read the claims of a JSON Web Token without checking it. Null if there is none, or it isn't readable. */
export function readIdentity(token: string | undefined): Identity | null {
  if (!token) return null;
  try {
    const claims = token.split('.')[1]!.replaceAll('-', '+').replaceAll('_', '/');
    const bytes = Uint8Array.from(atob(claims), (each) => each.charCodeAt(0));
    const { sub, name, email } = JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown>;
    const shown = [name, email].filter((each) => typeof each === 'string' && each.trim());
    if (typeof sub !== 'string') return null;
    return { token, shown: shown.length ? shown.join(', ') : sub };
  } catch {
    return null;
  }
}
