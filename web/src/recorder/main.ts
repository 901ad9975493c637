/**
 * The recorder: runs in the page's JavaScript world, before the page's first script, and records what happens there.
 *
 * The records stay in the page until they are requested on the channel, which happens when someone takes a capture.
 */
import type { PageRecord, ReadOptions } from './capture-types';
import { getAnswerEventName, CHANNEL_NAME, parseReadOptions, RECORDER_READY } from './channel';
import { recordConsole } from './console';
import { recordErrors } from './errors';
import { hideWrappers, now, toJson } from './natives';
import { recordFetch } from './network/fetch';
import { RequestLog } from './network/requests';
import { readArrival, recordResourceTimings } from './network/resource-timings';
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

function readRecord(options: ReadOptions): PageRecord {
  const consoleLog = readConsole(options);
  const errorLog = errors.read(options);
  const scriptRequests = requests.buffer.read(options, (each) => each.startedAt);
  const networkLog = mergeResourceTimings(
    scriptRequests.entries.map((each) => each.toEntry()),
    errors.failedResources,
    options,
  );
  return {
    startedAt,
    startedLate,
    arrival: readArrival(),
    console: consoleLog.entries,
    network: networkLog.entries,
    errors: errorLog.entries,
    dropped: {
      console: consoleLog.dropped,
      network: scriptRequests.dropped + networkLog.dropped,
      errors: errorLog.dropped,
    },
  };
}

document.addEventListener(
  CHANNEL_NAME,
  (event) => {
    const channel: unknown = (event as CustomEvent).detail;
    if (typeof channel !== 'string') return;
    document.addEventListener(channel, (request) => {
      let detail = '';
      try {
        detail = toJson(readRecord(parseReadOptions((request as CustomEvent).detail)));
      } catch (error) {
        detail = JSON.stringify({ error: String(error) });
      }
      document.dispatchEvent(new CustomEvent(getAnswerEventName(channel), { detail }));
    });
  },
  { once: true },
);
document.dispatchEvent(new CustomEvent(RECORDER_READY));
