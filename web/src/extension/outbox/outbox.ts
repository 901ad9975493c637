/** Captures that are waiting to be sent. Each is retried until the server has it, and becomes only one ticket. */
import { ApiError } from '../connection/request';
import { appState, drafts, outbox, type Draft, type QueuedCapture, type ReportFields } from '../storage';
import { applyPolicy } from './capture-policy';
import { uploadCapture } from './upload';

const ALARM = 'outbox';
const MIN_DELAY_MS = 30_000;
const MAX_DELAY_MS = 3_600_000;

/** The URL of the ticket, or why there is none; `willRetry`: the capture is sent again later. */
export type SendResult = { url: string } | { problem: string; willRetry: boolean };

/** Add a capture to the outbox, without what its project's policy excludes. */
export async function addToOutbox(draft: Draft, fields: ReportFields): Promise<void> {
  const project = (await appState.get('projects'))?.find(({ id }) => id === fields.project);
  if (project) applyPolicy(draft, project.capture_policy);
  await outbox.put({ ...draft, ...fields, queued: Date.now(), attempts: 0, next: 0, problem: null });
  await drafts.remove(draft.id);
  await updateBadge();
}

/** Send one capture now, even if its next attempt is later. */
export async function sendNow(id: string): Promise<SendResult> {
  return navigator.locks.request('outbox', async () => {
    const capture = await outbox.get(id);
    const result = capture
      ? await trySend(capture)
      : { problem: 'This capture was deleted or sent.', willRetry: false };
    await scheduleNext();
    return result;
  });
}

/** Send the captures that are due, oldest first. `all`: the others too. */
export async function sendDue(all = false): Promise<void> {
  await navigator.locks.request('outbox', async () => {
    const captures = (await outbox.getAll()).sort((a, b) => a.queued - b.queued);
    for (const capture of captures)
      if (all || (capture.next !== null && capture.next <= Date.now())) await trySend(capture);
    await scheduleNext();
  });
}

export async function deleteFromOutbox(id: string): Promise<void> {
  await outbox.remove(id);
  await scheduleNext();
}

async function trySend(capture: QueuedCapture): Promise<SendResult> {
  try {
    const url = await uploadCapture(capture);
    await outbox.remove(capture.id);
    return { url };
  } catch (cause) {
    const error = cause instanceof ApiError ? cause : new ApiError(0, String(cause));
    const next = nextAttemptAt(capture, error);
    const attempted = { ...capture, attempts: capture.attempts + 1, problem: error.message, next };
    if (await outbox.get(capture.id)) await outbox.put(attempted); // the user may have deleted it meanwhile
    return { problem: error.message, willRetry: next !== null };
  }
}

/** When to retry, in epoch milliseconds: after twice the delay each time, with some jitter. Null for never. */
function nextAttemptAt(capture: QueuedCapture, error: ApiError): number | null {
  if (!error.isTemporary) return null;
  const jitter = 0.8 + 0.4 * Math.random();
  const delay = Math.min(MAX_DELAY_MS, MIN_DELAY_MS * 2 ** capture.attempts) * jitter;
  return Date.now() + Math.max(MIN_DELAY_MS, delay, (error.retryAfter ?? 0) * 1000);
}

/** Set the alarm for the next attempt, and update the badge. */
async function scheduleNext(): Promise<void> {
  const times = (await outbox.getAll()).flatMap(({ next }) => (next === null ? [] : [next]));
  if (times.length)
    await chrome.alarms.create(ALARM, { when: Math.max(Date.now() + MIN_DELAY_MS, Math.min(...times)) });
  else await chrome.alarms.clear(ALARM);
  await updateBadge();
}

async function updateBadge(): Promise<void> {
  const count = await outbox.count();
  await chrome.action.setBadgeText({ text: count ? String(count) : '' });
  await chrome.action.setTitle({ title: count ? `ticketbox: ${count} waiting to be sent` : 'Report a bug' });
}
