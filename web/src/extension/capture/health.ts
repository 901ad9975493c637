import type {
  FrameReport,
  Health,
  HealthReason,
  StreamHealth,
  StreamName,
  Streams,
} from '../../recorder/capture-types';
import { isHidden } from '../observed-requests/add-observed';
import type { Observation } from '../observed-requests/requests-store';
import type { TabHistory } from '../tab-recording/tab-history';
import type { FramesResult, ReadFrame } from './frames';

type Assessment = [StreamHealth['status'], HealthReason | null];
const COMPLETE: Assessment = ['ok', null];

/** What a capture was made from. */
interface Sources {
  result: FramesResult;
  streams: Streams;
  history: TabHistory;
  /** The requests that the browser reported; null if it doesn't. */
  observation: Observation | null;
}

/** How complete a capture is (docs/use/captures.md). */
export function describeHealth(sources: Sources): Health {
  const { result, streams, history, observation } = sources;
  const frames = 'frames' in result ? result.frames : [];
  const top = topFrame(frames)?.report;
  const describeStream = (name: StreamName): StreamHealth => {
    const records = frames.flatMap(({ report }) => report?.record ?? []);
    let [status, reason] = assessFrames(result, name);
    if (!reason && history.dropped[name] > 0) [status, reason] = ['partial', 'limit'];
    if (!reason && lacksHistory(top, history)) [status, reason] = ['partial', 'navigated'];
    if (!reason && name === 'network' && streams.network.some((each) => isHidden(each, observation)))
      [status, reason] = ['partial', 'hidden'];
    // the browser reported them, although the page can't be recorded
    if (status === 'blocked' && name === 'network' && streams.network.length > 0) status = 'partial';
    const dropped = records.reduce((sum, record) => sum + record.dropped[name], history.dropped[name]);
    return { status, reason, captured: streams[name].length, dropped };
  };
  return {
    console: describeStream('console'),
    network: describeStream('network'),
    errors: describeStream('errors'),
    actions: describeStream('actions'),
    screenshot: null,
    history_started_at: history.startedAt ?? top?.record?.startedAt ?? null,
    page_loaded_at: top?.loadedAt ?? null,
  };
}

/** Whether something is missing of the documents that were in the tab before. */
function lacksHistory(top: FrameReport | null | undefined, history: TabHistory): boolean {
  return history.hasLosses || (top?.hasPredecessor === true && history.documents === 0);
}

function topFrame(frames: ReadFrame[]): ReadFrame | undefined {
  return frames.find(({ id }) => id === 0);
}

/** The status of a stream by the frames alone; of several problems, the gravest. */
function assessFrames(result: FramesResult, name: StreamName): Assessment {
  if ('reason' in result) return ['blocked', result.reason];
  const { frames } = result;
  const records = frames.map(({ report }) => report?.record);
  const topRecord = topFrame(frames)?.report?.record;
  if (!topRecord) return ['blocked', 'csp'];
  if (topRecord.startedLate) return ['partial', 'late_start'];
  if (records.some((record) => record && record.dropped[name] > 0)) return ['partial', 'limit'];
  if (records.some((record) => record?.unreadable?.[name])) return ['partial', 'error'];
  if (records.some((record) => !record)) return ['partial', 'csp'];
  const frameCount = frames.reduce((sum, { report }) => sum + (report?.childFrames ?? 0), 1);
  if (frameCount > frames.length) return ['partial', 'restricted_page'];
  return records.some((record) => record?.startedLate) ? ['partial', 'late_start'] : COMPLETE;
}
