import { formatAge } from './format';

const clock = $state({ now: Date.now() });
setInterval(() => (clock.now = Date.now()), 30_000);

/** Format a time relative to now. The text updates while it is on the screen. */
export function formatRelativeTime(at: string): string {
  return formatAge(at, clock.now);
}
