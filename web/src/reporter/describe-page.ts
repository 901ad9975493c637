/** The evidence of a report: what was recorded of its page, redacted before anybody sees it. */
import type { Failure } from '../../generated/api';
import type { Envelope, Expectation, FrameReport, StreamHealth, Streams } from '../recorder/capture-types';
import { Redactor } from '../recorder/redaction/redactor';
import { describeHealth } from '../extension/capture/health';
import { joinHistory, mergeStreams } from '../extension/capture/merge-streams';
import { NO_HISTORY } from '../extension/tab-recording/tab-history';
import type { NoPicture, PageSnapshot } from './picture/take-snapshot';

export interface RecordedPage {
  envelope: Required<Pick<Envelope, 'page' | 'health' | 'environment' | 'redaction'>>;
  streams: Streams;
  /** The failure that the person chose. */
  bug?: Failure;
  /** What the person pointed at. */
  expectations?: Expectation[];
  picture: PageSnapshot | null;
}

const TAKEN = { status: 'ok', reason: null, captured: 1, dropped: 0 } satisfies StreamHealth;
const NO_PICTURE = { status: 'blocked', reason: 'error', captured: 0, dropped: 0 } satisfies StreamHealth;

/** What a page's reporter recorded, still without a picture. */
export function describePage(report: FrameReport): RecordedPage {
  const frames = [{ id: 0, report }];
  const redactor = new Redactor();
  const streams = joinHistory(NO_HISTORY, mergeStreams(frames));
  redactor.redactStreams(streams);
  const health = describeHealth({
    result: { frames },
    streams,
    history: NO_HISTORY,
    observation: null,
  });
  const { page, environment } = report;
  return {
    envelope: {
      page: redactor.redactPage(page),
      health: { ...health, replay: NO_PICTURE },
      environment: redactor.redactEnvironment(environment),
      redaction: redactor.counts,
    },
    streams,
    picture: null,
  };
}

/** Add the picture, or the reason why there is none. */
export function addPicture(page: RecordedPage, taken: PageSnapshot | NoPicture): RecordedPage {
  const picture = typeof taken === 'string' ? null : taken;
  const replay = typeof taken === 'string' ? { ...NO_PICTURE, reason: taken } : TAKEN;
  return { ...page, picture, envelope: { ...page.envelope, health: { ...page.envelope.health, replay } } };
}
