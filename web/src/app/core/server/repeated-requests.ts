/**
 * Requests whose answer was lost. The server may have done what they ask for, so the same request again gets the same
 * Idempotency-Key (docs/use/api.md, "Retries").
 */
import { createUuid } from '../uuid';

/** For how long somebody who sends the same again means the request whose answer was lost. */
const MEANT_MS = 10 * 60_000;

const lost = new Map<string, { key: string; at: number }>();

/** The key of a request: the one of a lost request with the same content, else a new one. */
export function chooseKey(content: string): string {
  const known = lost.get(content);
  lost.delete(content);
  return known && Date.now() - known.at < MEANT_MS ? known.key : createUuid();
}

/** Remember the key of a request whose answer was lost. */
export function rememberLost(content: string, key: string): void {
  lost.set(content, { key, at: Date.now() });
}
