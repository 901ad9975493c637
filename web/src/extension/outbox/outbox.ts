/** Captures that are waiting to be sent. Each is retried until the server has it, and becomes only one ticket. */
import { ApiError } from '../connection/request';
import { leaveOut } from '../draft/edit-draft';
import { composeDescription } from '../draft/report-fields';
import {
  appState,
  drafts,
  outbox,
  type Draft,
  type ExistingTicket,
  type QueuedCapture,
  type ReportFields,
  type SendResult,
} from '../storage';
import { applyPolicy } from './capture-policy';
import { uploadCapture } from './upload';

const ALARM = 'outbox';
const MIN_DELAY_MS = 30_000;
const MAX_DELAY_MS = 3_600_000;

/** Add a capture to the outbox, without what its person and its project's policy exclude. */
export async function addToOutbox(
  whole: Draft,
  { steps, ...fields }: ReportFields,
  existing?: ExistingTicket,
): Promise<void> {
  const draft = leaveOut(whole, whole.excluded ?? []);
  // an existing ticket has its own text: what the person wrote becomes a comment
  const description = existing ? fields.description.trim() : composeDescription({ steps, ...fields });
  const project = (await appState.get('projects'))?.find(({ id }) => id === fields.project);
  if (project) applyPolicy(draft, project.capture_policy);
  const queued = { queued: Date.now(), attempts: 0, next: 0, problem: null };
  await outbox.put({ ...draft, ...fields, description, ...(existing ? { existing } : {}), ...queued });
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
    const sent = await uploadCapture(capture);
    await outbox.remove(capture.id);
    return sent;
  } catch (cause) {
    const error = cause instanceof ApiError ? cause : new ApiError(0, String(cause));
    const next = nextAttemptAt(capture, error);
    const attempted = { ...capture, attempts: capture.attempts + 1, problem: error.message, next };
    if (await outbox.get(capture.id)) await outbox.put(attempted); // the user may have deleted it meanwhile
    return { problem: error.message, willRetry: next !== null, isSignedOut: error.status === 401 };
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
