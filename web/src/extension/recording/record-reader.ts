/**
 * The record reader: a content script that reads the recorder of its frame for the extension, and records actions.
 *
 * The recorder runs in the page's JavaScript world, which the extension can't call; this script runs in the extension's
 * world of the same frame. The extension calls its global function, which the page can't see.
 */
import { recordActions } from '../../recorder/actions/record-actions';
import type { FrameRecord, FrameReport, ReadOptions } from '../../recorder/capture-types';
import { CHANNEL_NAME, formatReadOptions, getAnswerEventName, RECORDER_READY } from '../../recorder/channel';
import { readStoredValues } from '../../recorder/environment/storage-names';
import { recordPerformance } from '../../recorder/environment/performance';
import { describeFrame, hasPredecessor, navigation } from '../../recorder/frame-facts';
import { addLastingListener } from '../../recorder/natives/lasting-listeners';
import { now } from '../../recorder/natives/natives';
import { connectReplay } from '../replay/connect-replay';
import { parseRecord, type HandOver } from '../tab-recording/hand-over';
import { KEPT_MS, MAX_TAIL } from '../tab-recording/limits';
import { requestOptions } from './page-options';

declare global {
  /** Reads the frame; `limit`: only so many entries of each stream, the newest, except the actions. */
  var readTicketboxFrame: ((limit: number | null) => FrameReport) | undefined;
}

const ALL: ReadOptions = { since: 0, limit: Infinity };

// crypto.randomUUID doesn't exist in pages without HTTPS
const channel = `ticketbox:${crypto.getRandomValues(new Uint32Array(4)).join('-')}`;
const sendChannelName = () => document.dispatchEvent(new CustomEvent(CHANNEL_NAME, { detail: channel }));
document.addEventListener(RECORDER_READY, sendChannelName, { once: true });
sendChannelName();

const options = requestOptions();
if (window === top) connectReplay(options);

const actions = recordActions(document.readyState !== 'loading');
void options.then((known) => known && actions.applyMasks(known.masks));

// before the page's first script, unless it is already open
const stored = window === top ? readStoredValues() : null;
const readPerformance = window === top ? recordPerformance() : () => ({});

globalThis.readTicketboxFrame = (limit) => {
  const facts = describeFrame();
  const environment = { ...facts.environment, ...readPerformance() };
  if (stored && environment.storage) environment.storage = { ...environment.storage, start: [stored] };
  return { document: channel, record: readRecord(limit ?? Infinity), ...facts, environment };
};

// Firefox before 147 has no navigation API
let next: HandOver['next'] = navigation && null;
navigation?.addEventListener('navigate', ({ destination, formData, downloadRequest }) => {
  if (!destination.sameDocument && downloadRequest === null)
    next = { url: destination.url, isPost: formData !== null };
});
navigation?.addEventListener('navigatesuccess', () => (next = null));

addLastingListener(
  window,
  'pagehide',
  ({ isTrusted }: Event) => {
    const handOver = isTrusted && createHandOver({ since: now() - KEPT_MS, limit: MAX_TAIL });
    // fails if the extension was updated or removed; then there is nobody who could keep it
    if (handOver) new Promise((sent) => sent(chrome.runtime.sendMessage(handOver))).catch(() => {});
  },
  { capture: true },
);

function readRecord(limit: number): FrameRecord | null {
  const handOver = createHandOver({ since: 0, limit }, ALL);
  try {
    return handOver && parseRecord(handOver);
  } catch {
    return null;
  }
}

/** Read the recorder's record; the answer arrives before `dispatchEvent` returns. Null if the recorder doesn't run. */
function createHandOver(options: ReadOptions, ofActions = options): HandOver | null {
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
    stored,
    leftAt: now(),
    pageRecord: answer,
    actions: actions.read(ofActions),
  };
}
