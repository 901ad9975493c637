import { createSubscriber } from 'svelte/reactivity';
import { readDelay } from '../../core/server/server-clock.svelte';
import { formatAge } from './dates';

const clock = $state({ now: Date.now() });
setInterval(() => (clock.now = Date.now()), 30_000);

/** Format a time relative to now. The text updates while it is on the screen. */
export function formatRelativeTime(at: string): string {
  return formatAge(at, readClock());
}

/** The server's time in epoch milliseconds. What reads it updates every 30 seconds. */
export function readClock(): number {
  return clock.now + readDelay();
}

const subscribeToSeconds = createSubscriber((update) => {
  const timer = setInterval(update, 1_000);
  return () => clearInterval(timer);
});

/** The server's time in epoch milliseconds. What reads it updates every second: only for what there are few of. */
export function readSeconds(): number {
  subscribeToSeconds();
  return Date.now() + readDelay();
}
