/** Which entries of a capture can be its bug: what a test can look for, as the server's `find_failure` (bug.py). */
import type { ConsoleEntry, ErrorEntry, Failure, NetworkEntry } from '../../generated/api';

/**
 * Whether the API counts a request as failed: status 400 and above, or no response (docs/use/captures.md,
 * "Truncation"). What the browser hides of a request is no failure.
 */
export function isFailed({ status, error, response }: NetworkEntry): boolean {
  if (status === null && error == null) return response?.omitted_reason !== 'unavailable';
  return status === null || status >= 400 || error != null;
}

/** Name a thrown error; null for what nobody threw. */
export function nameError({ kind, seq }: ErrorEntry): Failure | null {
  const isThrown = kind === 'error' || kind === 'unhandledrejection';
  return isThrown ? { stream: 'errors', entry: String(seq) } : null;
}

/** Name an error in the console; null for other lines. */
export function nameLine({ level, seq }: ConsoleEntry): Failure | null {
  return level === 'error' ? { stream: 'console', entry: String(seq) } : null;
}

/** Name a failed request; null for others. */
export function nameRequest(entry: NetworkEntry): Failure | null {
  return isFailed(entry) ? { stream: 'network', entry: entry.id } : null;
}

/** Whether two names are of the same failure. */
export function isSameFailure(one: Failure | null | undefined, other: Failure | null | undefined): boolean {
  return one != null && other != null && one.stream === other.stream && one.entry === other.entry;
}
