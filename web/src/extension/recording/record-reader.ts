/**
 * The record reader: a content script that reads the recorder of its frame for the extension, and records actions.
 *
 * The recorder runs in the page's JavaScript world, which the extension can't call; this script runs in the extension's
 * world of the same frame. The extension calls its global function, which the page can't see.
 */
import { recordActions } from '../../recorder/actions/record-actions';
import type { FrameRecord, FrameReport, ReadOptions } from '../../recorder/capture-types';
import { CHANNEL_NAME, formatReadOptions, getAnswerEventName, RECORDER_READY } from '../../recorder/channel';
import { now } from '../../recorder/natives';
import { connectReplay } from '../replay/connect-replay';
import { parseRecord, type HandOver } from '../tab-recording/hand-over';
import { KEPT_MS, MAX_TAIL } from '../tab-recording/limits';

interface NavigationApi {
  activation?: { from: object | null } | null;
  addEventListener(type: string, listener: (event: NavigateEvent) => void): void;
}
interface NavigateEvent {
  destination: { url: string; sameDocument: boolean };
  formData: FormData | null;
  downloadRequest: string | null;
}

declare global {
  var readTicketboxFrame: (() => FrameReport) | undefined;
}

// crypto.randomUUID doesn't exist in pages without HTTPS
const channel = `ticketbox:${crypto.getRandomValues(new Uint32Array(4)).join('-')}`;
const sendChannelName = () => document.dispatchEvent(new CustomEvent(CHANNEL_NAME, { detail: channel }));
document.addEventListener(RECORDER_READY, sendChannelName, { once: true });
sendChannelName();

if (window === top) connectReplay();

const readActions = recordActions(document.readyState !== 'loading');

globalThis.readTicketboxFrame = () => {
  const [timing] = performance.getEntriesByType('navigation');
  const responseStart = (timing as PerformanceNavigationTiming | undefined)?.responseStart ?? 0;
  const { userAgent, language } = navigator;
  return {
    document: channel,
    hasPredecessor: hasPredecessor(),
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
      release: document.querySelector<HTMLMetaElement>('meta[name="release"]')?.content.slice(0, 200) || null,
    },
    childFrames: window.length,
  };
};

// Firefox before 147 has no navigation API
const { navigation } = globalThis as { navigation?: NavigationApi };
let next: HandOver['next'] = navigation && null;
navigation?.addEventListener('navigate', ({ destination, formData, downloadRequest }) => {
  if (!destination.sameDocument && downloadRequest === null)
    next = { url: destination.url, isPost: formData !== null };
});
navigation?.addEventListener('navigatesuccess', () => (next = null));

addEventListener(
  'pagehide',
  ({ isTrusted }) => {
    const handOver = isTrusted && createHandOver({ since: now() - KEPT_MS, limit: MAX_TAIL });
    // fails if the extension was updated or removed; then there is nobody who could keep it
    if (handOver) new Promise((sent) => sent(chrome.runtime.sendMessage(handOver))).catch(() => {});
  },
  { capture: true },
);

function readRecord(): FrameRecord | null {
  const handOver = createHandOver({ since: 0, limit: Infinity });
  try {
    return handOver && parseRecord(handOver);
  } catch {
    return null;
  }
}

/** Read the recorder's record; the answer arrives before `dispatchEvent` returns. Null if the recorder doesn't run. */
function createHandOver(options: ReadOptions): HandOver | null {
  let answer: unknown = null;
  const onAnswer = (event: Event) => (answer = (event as CustomEvent).detail);
  document.addEventListener(getAnswerEventName(channel), onAnswer, { once: true });
  document.dispatchEvent(new CustomEvent(channel, { detail: formatReadOptions(options) }));
  document.removeEventListener(getAnswerEventName(channel), onAnswer);
  if (typeof answer !== 'string') return null;
  return {
    kind: 'hand-over',
    document: channel,
    isTop: window === top,
    hasPredecessor: hasPredecessor(),
    next,
    leftAt: now(),
    pageRecord: answer,
    actions: readActions(options),
  };
}

/** Whether the tab showed another document of the site before this one. */
function hasPredecessor(): boolean {
  const [timing] = performance.getEntriesByType('navigation') as unknown as PerformanceNavigationTiming[];
  if (window !== top || timing?.type === 'reload') return window === top;
  if (navigation?.activation) return navigation.activation.from !== null;
  return history.length > 1 && URL.parse(document.referrer)?.origin === location.origin;
}
