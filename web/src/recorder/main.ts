/**
 * The recorder of the extension: runs in the page's JavaScript world, before the page's first script.
 *
 * The records stay in the page until they are requested on the channel, which happens when someone takes a capture.
 */
import { getAnswerEventName, CHANNEL_NAME, parseReadOptions, RECORDER_READY } from './channel';
import { addLastingListener } from './natives/lasting-listeners';
import { withNatives } from './natives/restore-natives';
import { startRecorder } from './recorder';

declare global {
  /** Set by enable-bodies.ts and deleted below, before the page's first script runs. */
  var ticketboxRecordsBodies: true | undefined;
}

const readRecord = startRecorder(globalThis.ticketboxRecordsBodies === true);
delete globalThis.ticketboxRecordsBodies;

document.addEventListener(
  CHANNEL_NAME,
  (event) => {
    const channel: unknown = (event as CustomEvent).detail;
    if (typeof channel !== 'string') return;
    addLastingListener(document, channel, (request) => {
      let detail = '{"error":"unreadable"}';
      try {
        const options = (request as CustomEvent).detail as string;
        detail = readRecord(withNatives(() => parseReadOptions(options)));
      } catch {
        // the reader takes it for a page that isn't recorded
      }
      document.dispatchEvent(new CustomEvent(getAnswerEventName(channel), { detail }));
    });
  },
  { once: true },
);
document.dispatchEvent(new CustomEvent(RECORDER_READY));
