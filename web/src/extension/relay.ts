/**
 * The relay: stands between the collector, which lives with the page, and the extension. It holds no secret and asks
 * nobody. The extension calls it by `ticketboxTell`, which the page can't see.
 */
import { CALL, NAME } from './channel';
import type { Record, Told } from './shapes';

declare global {
  var ticketboxTell: (() => Told) | undefined;
}

// pages without https have no crypto.randomUUID
const channel = `ticketbox:${crypto.getRandomValues(new Uint32Array(4)).join('-')}`;
const introduce = () => document.dispatchEvent(new CustomEvent(NAME, { detail: channel }));
document.addEventListener(CALL, introduce, { once: true });
introduce();

globalThis.ticketboxTell = () => {
  const [navigation] = performance.getEntriesByType('navigation');
  const { userAgent, language } = navigator;
  return {
    record: recorded(),
    page: { url: location.href, title: document.title, referrer: document.referrer || null },
    loaded:
      performance.timeOrigin + ((navigation as PerformanceNavigationTiming | undefined)?.responseStart ?? 0),
    environment: {
      browser: userAgent.slice(0, 1_000),
      os: navigator.platform || null,
      viewport: { width: innerWidth, height: innerHeight },
      screen: { width: screen.width, height: screen.height },
      dpr: devicePixelRatio > 0 ? devicePixelRatio : null,
      language,
      timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    },
    frames: window.length,
  };
};

function recorded(): Record | null {
  let answer: unknown = null;
  const hear = (event: Event) => (answer = (event as CustomEvent).detail);
  document.addEventListener(`${channel}!`, hear, { once: true });
  document.dispatchEvent(new CustomEvent(channel));
  document.removeEventListener(`${channel}!`, hear);
  if (typeof answer !== 'string') return null;
  const found = JSON.parse(answer) as Record | { error: string };
  return 'error' in found ? null : found;
}
