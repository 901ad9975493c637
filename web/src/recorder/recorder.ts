/** Records what happens in the page from now on. The records stay in the page until they are read. */
import type { PageRecord, ReadOptions } from './capture-types';
import { recordConsole } from './console/console';
import { recordDialogs } from './dialogs';
import { recordErrors } from './errors';
import { watchDocumentWrites } from './natives/lasting-listeners';
import { hideWrappers, now, toJson } from './natives/natives';
import { recordFetch } from './network/fetch';
import { RequestLog } from './network/requests';
import { readArrival, recordResourceTimings } from './network/resource-timings';
import { recordSockets } from './network/sockets';
import { recordXhr } from './network/xhr';
import { attempt, withNatives } from './natives/restore-natives';
import { convertEach } from './ring-buffer';
import { Sequence } from './sequence';

/**
 * Start recording. Returns a function that reads the record as JSON of a `PageRecord`, not redacted: text that the page
 * can't change afterwards. It raises an error if the record can't be read.
 */
export function startRecorder(recordsBodies: boolean): (options: ReadOptions) => string {
  const startedAt = now();
  const startedLate = document.readyState !== 'loading';
  const sequence = new Sequence();
  const readConsole = recordConsole(sequence);
  const errors = recordErrors(sequence);
  const requests = new RequestLog(recordsBodies);
  const readDialogs = recordDialogs(sequence);
  recordFetch(requests);
  recordXhr(requests);
  recordSockets(requests);
  const mergeResourceTimings = recordResourceTimings();
  watchDocumentWrites();
  hideWrappers();

  const readRecord = (options: ReadOptions): PageRecord => {
    const consoleLog = readConsole(options);
    const errorLog = errors.read(options);
    const scriptRequests = requests.buffer.read(options, (each) => each.startedAt);
    const ownRequests = convertEach(scriptRequests.entries, (each) => each.toEntry());
    const networkLog = attempt(() =>
      mergeResourceTimings(ownRequests.entries, errors.failedResources, options),
    ) ?? { entries: ownRequests.entries, dropped: 0, isFailed: true };
    return {
      startedAt,
      startedLate,
      arrival: attempt(readArrival),
      console: consoleLog.entries,
      network: networkLog.entries,
      errors: errorLog.entries,
      dialogs: readDialogs(options),
      dropped: {
        console: consoleLog.dropped,
        network: scriptRequests.dropped + networkLog.dropped,
        errors: errorLog.dropped,
      },
      unreadable: {
        console: consoleLog.unreadable,
        network: ownRequests.unreadable + ('isFailed' in networkLog ? 1 : 0),
        errors: errorLog.unreadable,
      },
    };
  };

  return (options) => withNatives(() => toJson(readRecord(options)));
}
