/**
 * The recorder: runs in the page's JavaScript world, before the page's first script, and records what happens there.
 *
 * The records stay in the page until they are requested on the channel, which happens when someone takes a capture.
 */
import type { PageRecord } from './capture-types';
import { getAnswerEventName, CHANNEL_NAME, RECORDER_READY } from './channel';
import { recordConsole } from './console';
import { recordErrors } from './errors';
import { hideWrappers, now, toJson } from './natives';
import { recordFetch } from './network/fetch';
import { RequestLog } from './network/requests';
import { recordResourceTimings } from './network/resource-timings';
import { recordXhr } from './network/xhr';
import { Sequence } from './sequence';

declare global {
  /** Set by enable-bodies.ts and deleted below, before the page's first script runs. */
  var ticketboxRecordsBodies: true | undefined;
}

const startedAt = now();
const startedLate = document.readyState !== 'loading';
const recordsBodies = globalThis.ticketboxRecordsBodies === true;
delete globalThis.ticketboxRecordsBodies;

const sequence = new Sequence();
const readConsole = recordConsole(sequence);
const errors = recordErrors(sequence);
const requests = new RequestLog(recordsBodies);
recordFetch(requests);
recordXhr(requests);
const mergeResourceTimings = recordResourceTimings();
hideWrappers();

function readRecord(): PageRecord {
  const consoleLog = readConsole();
  const errorLog = errors.read();
  const networkLog = mergeResourceTimings(
    requests.buffer.entries.map((each) => each.toEntry()),
    errors.failedResources,
  );
  return {
    startedAt,
    startedLate,
    console: consoleLog.entries,
    network: networkLog.entries,
    errors: errorLog.entries,
    dropped: {
      console: consoleLog.dropped,
      network: requests.buffer.dropped + networkLog.dropped,
      errors: errorLog.dropped,
    },
  };
}

document.addEventListener(
  CHANNEL_NAME,
  (event) => {
    const channel: unknown = (event as CustomEvent).detail;
    if (typeof channel !== 'string') return;
    document.addEventListener(channel, () => {
      let detail = '';
      try {
        detail = toJson(readRecord());
      } catch (error) {
        detail = JSON.stringify({ error: String(error) });
      }
      document.dispatchEvent(new CustomEvent(getAnswerEventName(channel), { detail }));
    });
  },
  { once: true },
);
document.dispatchEvent(new CustomEvent(RECORDER_READY));
