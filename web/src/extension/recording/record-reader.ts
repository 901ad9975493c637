/**
 * The record reader: a content script that reads the recorder of its frame for the extension, and records actions.
 *
 * The recorder runs in the page's JavaScript world, which the extension can't call; this script runs in the extension's
 * world of the same frame. The extension calls its global function, which the page can't see.
 */
import { recordActions } from '../../recorder/actions/record-actions';
import type { FrameRecord, FrameReport, PageRecord } from '../../recorder/capture-types';
import { getAnswerEventName, CHANNEL_NAME, RECORDER_READY } from '../../recorder/channel';

declare global {
  var readTicketboxFrame: (() => FrameReport) | undefined;
}

// crypto.randomUUID doesn't exist in pages without HTTPS
const channel = `ticketbox:${crypto.getRandomValues(new Uint32Array(4)).join('-')}`;
const sendChannelName = () => document.dispatchEvent(new CustomEvent(CHANNEL_NAME, { detail: channel }));
document.addEventListener(RECORDER_READY, sendChannelName, { once: true });
sendChannelName();

const readActions = recordActions(document.readyState !== 'loading');

globalThis.readTicketboxFrame = () => {
  const [timing] = performance.getEntriesByType('navigation');
  const responseStart = (timing as PerformanceNavigationTiming | undefined)?.responseStart ?? 0;
  const { userAgent, language } = navigator;
  return {
    record: readRecord(),
    page: { url: location.href, title: document.title, referrer: document.referrer || null },
    loadedAt: performance.timeOrigin + responseStart,
    environment: {
      browser: userAgent.slice(0, 1_000),
      os: navigator.platform || null,
      viewport: { width: innerWidth, height: innerHeight },
      screen: { width: screen.width, height: screen.height },
      dpr: devicePixelRatio > 0 ? devicePixelRatio : null,
      language,
      timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    },
    childFrames: window.length,
  };
};

/** Read the recorder's record; the answer arrives before `dispatchEvent` returns. */
function readRecord(): FrameRecord | null {
  let answer: unknown = null;
  const onAnswer = (event: Event) => (answer = (event as CustomEvent).detail);
  document.addEventListener(getAnswerEventName(channel), onAnswer, { once: true });
  document.dispatchEvent(new CustomEvent(channel));
  document.removeEventListener(getAnswerEventName(channel), onAnswer);
  if (typeof answer !== 'string') return null;
  const record = JSON.parse(answer) as PageRecord | { error: string };
  if ('error' in record) return null;
  const actions = readActions();
  return { ...record, actions: actions.entries, dropped: { ...record.dropped, actions: actions.dropped } };
}
