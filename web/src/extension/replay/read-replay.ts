/** Reading the replay of a tab for a capture. */
import type { HealthReason, StreamHealth } from '../../recorder/capture-types';
import { Redactor } from '../../recorder/redaction/redactor';
import type { ReplayEvent, ReplayRecord } from '../../recorder/replay/channel';
import { redactTexts } from '../../recorder/replay/redact-texts';
import type { DraftReplay } from '../storage';
import { withTimeout } from '../capture/frames';
import { gzipJson } from '../tab-recording/compression';

/** What the server accepts, compressed. */
const MAX_BYTES = 2 * 1024 * 1024;

export interface RecordedReplay {
  replay: DraftReplay | null;
  health: StreamHealth;
}

/**
 * Read the replay of a tab; secrets are redacted. `seconds`: how many the person wants. `hasPredecessor`: whether the
 * tab showed another document of the site before, which the replay can't show. `unreadable`: why no frame of the tab
 * can be read.
 */
export async function readReplay(
  tab: number,
  seconds: number,
  hasPredecessor: boolean,
  unreadable: HealthReason | null,
): Promise<RecordedReplay> {
  if (seconds === 0) return describeMissing('disabled', null);
  if (unreadable) return describeMissing('blocked', unreadable);
  const record = await withTimeout(requestRecord(tab)).catch(() => 'restricted_page' as const);
  if (record === null) return describeMissing('blocked', 'late_start');
  if (record === 'restricted_page') return describeMissing('blocked', record);
  const { problem, events, isCut } = record;
  if (problem) return describeMissing('blocked', problem);
  if (events.length < 2) return isCut ? describeMissing('blocked', 'limit') : describeMissing('empty', null);
  const data = await gzipJson(redactTexts(events, new Redactor()));
  if (data.size > MAX_BYTES) return describeMissing('blocked', 'limit');
  const length = measureSeconds(events);
  const reason = findReason(record, length < seconds && hasPredecessor);
  const health: StreamHealth = {
    status: reason ? 'partial' : 'ok',
    reason,
    captured: events.length,
    dropped: 0,
  };
  // rounded up: its first moments have pictures, too
  return { replay: { data, seconds: Math.min(seconds, Math.ceil(length)) }, health };
}

async function requestRecord(tab: number): Promise<ReplayRecord | null> {
  const [result] = await chrome.scripting.executeScript({
    target: { tabId: tab },
    func: () => globalThis.readTicketboxReplay?.() ?? null,
  });
  return typeof result?.result === 'string' ? (JSON.parse(result.result) as ReplayRecord) : null;
}

function describeMissing(status: StreamHealth['status'], reason: HealthReason | null): RecordedReplay {
  return { replay: null, health: { status, reason, captured: 0, dropped: 0 } };
}

function findReason(
  { isCut, startedLate, wasStopped }: ReplayRecord,
  lacksPage: boolean,
): HealthReason | null {
  if (isCut) return 'limit';
  if (wasStopped) return 'slowdown';
  if (startedLate) return 'late_start';
  return lacksPage ? 'navigated' : null;
}

/** How long a replay is, in seconds. */
function measureSeconds(events: ReplayEvent[]): number {
  return ((events.at(-1)?.timestamp ?? 0) - (events[0]?.timestamp ?? 0)) / 1000;
}
