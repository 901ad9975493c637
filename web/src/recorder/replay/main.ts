/**
 * The replay recorder: runs in the JavaScript world of a recorded page, because only there it sees the rules that
 * scripts insert into style sheets. It keeps what the page showed last until that is requested on the channel.
 */
import { record } from '@rrweb/record';
import { now, toJson } from '../natives';
import {
  nameReplayEvents,
  REPLAY_CHANNEL,
  REPLAY_READY,
  type ReplayEvent,
  type ReplayOptions,
} from './channel';
import { CostMeter } from './cost-meter';
import { EDITORS, FIELDS, maskText, PRIVATE, removeMedia } from './masking';
import { Segments } from './segments';

const CHECKOUT_MS = 30_000;
const MAX_WAIT_MS = 5_000;
const INCREMENT = 3;
const META = 4;
const SCROLL = 3;

const startedLate = document.readyState !== 'loading';
let segments = new Segments(0);
let problem: 'slowdown' | 'error' | null = null;
let stop: (() => void) | undefined;
let isCheckoutDue = false;
const meter = new CostMeter(() => end('slowdown'), now);

function start({ seconds }: ReplayOptions): void {
  if (seconds <= 0 || stop || problem) return;
  segments = new Segments(seconds * 1000);
  meter.enclose(() => {
    stop = record({
      emit: (event) => meter.measure(() => keep(event as ReplayEvent)),
      maskInputOptions: FIELDS as object,
      maskInputFn: maskText,
      maskTextSelector: EDITORS,
      maskTextFn: maskText,
      blockSelector: PRIVATE,
      inlineStylesheet: true,
      inlineImages: false,
      recordCanvas: false,
      collectFonts: false,
      slimDOMOptions: 'all',
      sampling: { mousemove: 100, scroll: 150, input: 'last' },
      errorHandler: () => true,
    });
  });
  if (!stop) end('error');
  else if (problem) end(problem); // the first snapshot was too slow
}

function keep(event: ReplayEvent): void {
  if (problem) return;
  // the clock of the other streams, which a change of the system's time doesn't move
  const time = (event.timestamp = Math.round(now()));
  // the page's size and a full snapshot follow each other, and begin a segment
  segments.add(removeMedia(toJson(event)), time, event.type === META);
  if (event.type === INCREMENT && time - segments.startedAt > CHECKOUT_MS) checkOut();
}

/** Take a full snapshot when the page has time. */
function checkOut(): void {
  if (isCheckoutDue) return;
  isCheckoutDue = true;
  const take = () => {
    isCheckoutDue = false;
    if (!problem) meter.measure(() => record.takeFullSnapshot(true));
  };
  requestIdleCallback(take, { timeout: MAX_WAIT_MS });
}

function end(reason: 'slowdown' | 'error'): void {
  problem = reason;
  segments = new Segments(0);
  stop?.();
  meter.stop();
}

/** The record as JSON. A last event, which changes nothing, makes the replay end now. */
function readRecord(): string {
  if (stop && !problem) {
    const data = { source: SCROLL, id: record.mirror.getId(document), x: scrollX, y: scrollY };
    keep({ type: INCREMENT, data, timestamp: 0 });
  }
  const state = JSON.stringify({ problem, startedLate, isCut: segments.isCut });
  return `${state.slice(0, -1)},"events":${segments.read(now())}}`;
}

function startWhenParsed(options: ReplayOptions): void {
  if (document.readyState !== 'loading') return start(options);
  document.addEventListener('DOMContentLoaded', () => start(options), { once: true });
}

document.addEventListener(
  REPLAY_CHANNEL,
  (event) => {
    const channel: unknown = (event as CustomEvent).detail;
    if (typeof channel !== 'string') return;
    const names = nameReplayEvents(channel);
    document.addEventListener(
      names.start,
      (started) => startWhenParsed(JSON.parse((started as CustomEvent<string>).detail) as ReplayOptions),
      { once: true },
    );
    document.addEventListener(names.request, () =>
      document.dispatchEvent(new CustomEvent(names.answer, { detail: readRecord() })),
    );
    document.dispatchEvent(new CustomEvent(names.connected));
  },
  { once: true },
);
document.dispatchEvent(new CustomEvent(REPLAY_READY));
