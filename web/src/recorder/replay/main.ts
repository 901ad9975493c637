/**
 * The replay recorder: runs in the JavaScript world of a recorded page, because only there it sees the rules that
 * scripts insert into style sheets. It keeps what the page showed last until that is requested on the channel.
 */
import { record } from '@rrweb/record';
import { addLastingListener } from '../natives/lasting-listeners';
import { now, toJson } from '../natives/natives';
import { attempt } from '../natives/restore-natives';
import {
  nameReplayEvents,
  REPLAY_CHANNEL,
  REPLAY_READY,
  type ReplayEvent,
  type ReplayOptions,
} from './channel';
import { CostMeter } from './cost-meter';
import { joinPrivateParts } from '../private-parts';
import { removeMedia, SNAPSHOT_OPTIONS } from './masking';
import { removePrivateChanges } from './private-changes';
import { Segments } from './segments';

const CHECKOUT_MS = 30_000;
const MAX_WAIT_MS = 5_000;
const INCREMENT = 3;
const META = 4;
/** How long a recorder rests that was too slow once, as on a page that loads while the machine is busy. */
const REST_MS = 10_000;
const FAILED = '{"problem":"error","startedLate":false,"wasStopped":false,"isCut":false,"events":[]}';
const SCROLL = 3;

const startedLate = document.readyState !== 'loading';
let segments = new Segments(0);
let problem: 'slowdown' | 'error' | null = null;
let stop: (() => void) | undefined;
let isCheckoutDue = false;
let privateParts = '';
let wasStopped = false;
let meter: CostMeter | undefined;

function start(options: ReplayOptions): void {
  const { seconds, masks } = options;
  if (seconds <= 0 || stop || problem) return;
  meter = new CostMeter(() => rest(options), now);
  segments = new Segments(seconds * 1000);
  privateParts = joinPrivateParts(masks);
  meter.enclose(() => {
    stop = record({
      emit: (event) => meter!.measure(() => keep(event as ReplayEvent)),
      ...SNAPSHOT_OPTIONS,
      blockSelector: privateParts,
      sampling: { mousemove: 100, scroll: 150, input: 'last' },
      errorHandler: () => true,
    });
  });
  if (!stop) end('error');
  else if (problem) end(problem); // the first snapshot was too slow
}

/** Stop a recorder that needs too much. It begins again once, when the page has time. */
function rest(options: ReplayOptions): void {
  end('slowdown');
  if (wasStopped) return;
  wasStopped = true;
  const again = () => {
    stop = undefined;
    problem = null;
    startSafely(options);
  };
  setTimeout(() => requestIdleCallback(again), REST_MS);
}

function keep(event: ReplayEvent): void {
  if (problem) return;
  if (event.type === INCREMENT)
    removePrivateChanges(event.data, privateParts, (id) => record.mirror.getNode(id));
  // the clock of the other streams, which a change of the system's time doesn't move
  const time = (event.timestamp = Math.round(now()));
  // the page's size and a full snapshot follow each other, and begin a segment
  segments.add(removeMedia(toJson(event)), time, event.type === META);
  if (event.type === INCREMENT && (time - segments.startedAt > CHECKOUT_MS || segments.isLarge)) checkOut();
}

/** Take a full snapshot when the page has time. */
function checkOut(): void {
  if (isCheckoutDue) return;
  isCheckoutDue = true;
  const take = () => {
    isCheckoutDue = false;
    if (!problem) meter!.measure(() => record.takeFullSnapshot(true));
  };
  requestIdleCallback(take, { timeout: MAX_WAIT_MS });
}

function end(reason: 'slowdown' | 'error'): void {
  problem = reason;
  segments = new Segments(0);
  stop?.();
  meter?.stop();
}

/** The record as JSON. A last event, which changes nothing, makes the replay end now. */
function readRecord(): string {
  if (stop && !problem) {
    const data = { source: SCROLL, id: record.mirror.getId(document), x: scrollX, y: scrollY };
    keep({ type: INCREMENT, data, timestamp: 0 });
  }
  const state = JSON.stringify({ problem, startedLate, wasStopped, isCut: segments.isCut });
  return `${state.slice(0, -1)},"events":${segments.read(now())}}`;
}

function startWhenParsed(options: ReplayOptions): void {
  if (document.readyState !== 'loading') return startSafely(options);
  document.addEventListener('DOMContentLoaded', () => startSafely(options), { once: true });
}

function startSafely(options: ReplayOptions): void {
  try {
    start(options);
  } catch {
    end('error'); // the page has replaced functions that rrweb needs
  }
}

document.addEventListener(
  REPLAY_CHANNEL,
  (event) => {
    const channel: unknown = (event as CustomEvent).detail;
    if (typeof channel !== 'string') return;
    const names = nameReplayEvents(channel);
    document.addEventListener(
      names.start,
      (started) => {
        const { detail } = started as CustomEvent<string>;
        const options = attempt(() => JSON.parse(detail) as ReplayOptions);
        if (options) startWhenParsed(options);
      },
      { once: true },
    );
    addLastingListener(document, names.request, () =>
      document.dispatchEvent(new CustomEvent(names.answer, { detail: attempt(readRecord) ?? FAILED })),
    );
    document.dispatchEvent(new CustomEvent(names.connected));
  },
  { once: true },
);
document.dispatchEvent(new CustomEvent(REPLAY_READY));
