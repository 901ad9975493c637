/** The queue of captures that were sent off: tried until the server has them, and never sent twice as two. */
import type { Input } from '../shared/annotation/marks';
import { call, Refusal } from './api';
import { Redactor } from './redaction/redact';
import type { Counts, Policy, Priority } from './shapes';
import { drafts, queue, state, type Draft, type Queued } from './store';

const ALARM = 'outbox';
const SOONEST = 30_000;
const LATEST = 3_600_000;
const KINDS: (keyof Counts)[] = ['headers', 'query', 'keys', 'patterns', 'extra'];

export interface Given {
  title: string;
  description: string;
  project: string;
  priority: Priority;
}
interface Receipt {
  ticket_id: string;
  url: string;
}
export type Outcome = { url: string } | { problem: string; waits: boolean };

/** Put a capture into the queue, without what its project's policy leaves out. */
export async function enqueue(draft: Draft, given: Given): Promise<void> {
  const project = (await state.get('projects'))?.find(({ id }) => id === given.project);
  if (project) obey(draft, project.capture_policy);
  await queue.put({ ...draft, ...given, queued: Date.now(), attempts: 0, next: 0, problem: null });
  await drafts.remove(draft.id);
  await tell();
}

function obey(draft: Draft, policy: Policy): void {
  if (policy.bodies === 'off')
    for (const { request, response } of draft.streams.network)
      for (const side of [request, response])
        if (side?.body != null) [side.body, side.omitted_reason] = [null, 'policy'];
  const redactor = new Redactor(policy.extra_redactions);
  redactor.streams(draft.streams);
  draft.envelope.page = redactor.page(draft.envelope.page);
  const { redaction } = draft.envelope;
  for (const name of KINDS) redaction[name] += redactor.counts[name];
}

/** Send one capture now, whatever was planned for it. */
export async function sendNow(id: string): Promise<Outcome> {
  return navigator.locks.request('outbox', async () => {
    const item = await queue.get(id);
    const outcome = item
      ? await attempt(item)
      : { problem: 'this capture is not here any more', waits: false };
    await plan();
    return outcome;
  });
}

/** Send what is due, oldest first. With `all`, everything is. */
export async function flush(all = false): Promise<void> {
  await navigator.locks.request('outbox', async () => {
    const waiting = (await queue.all()).sort((a, b) => a.queued - b.queued);
    for (const item of waiting)
      if (all || (item.next !== null && item.next <= Date.now())) await attempt(item);
    await plan();
  });
}

export async function discard(id: string): Promise<void> {
  await queue.remove(id);
  await plan();
}

async function attempt(item: Queued): Promise<Outcome> {
  try {
    const receipt = await call<Receipt>('/captures', { method: 'POST', body: await upload(item) });
    if (item.marks?.length) await draw(receipt.ticket_id, item.marks);
    const { url } = receipt;
    await queue.remove(item.id);
    return { url };
  } catch (error) {
    const refusal = error instanceof Refusal ? error : new Refusal(0, String(error));
    const again = {
      ...item,
      attempts: item.attempts + 1,
      problem: refusal.message,
      next: nextTry(item, refusal),
    };
    if (await queue.get(item.id)) await queue.put(again); // it may have been discarded meanwhile
    return { problem: refusal.message, waits: again.next !== null };
  }
}

/** Put the marks on the picture that arrived. Sending the capture again for their sake changes nothing else. */
async function draw(ticket: string, marks: Input[]): Promise<void> {
  const found = await call<{ capture: { screenshot: { id: string } } }>(`/tickets/${ticket}?include=capture`);
  const headers = { 'Content-Type': 'application/json' };
  const body = JSON.stringify({ annotations: marks });
  await call(`/assets/${found.capture.screenshot.id}/annotations`, { method: 'PUT', headers, body });
}

function nextTry(item: Queued, refusal: Refusal): number | null {
  if (!refusal.passes) return null;
  const patience = Math.min(LATEST, SOONEST * 2 ** item.attempts) * (0.8 + 0.4 * Math.random());
  return Date.now() + Math.max(SOONEST, patience, (refusal.retryAfter ?? 0) * 1000);
}

/** Wake up when the next capture is due, and say how many wait. */
async function plan(): Promise<void> {
  const times = (await queue.all()).flatMap(({ next }) => (next === null ? [] : [next]));
  if (times.length)
    await chrome.alarms.create(ALARM, { when: Math.max(Date.now() + SOONEST, Math.min(...times)) });
  else await chrome.alarms.clear(ALARM);
  await tell();
}

async function tell(): Promise<void> {
  const count = await queue.count();
  await chrome.action.setBadgeText({ text: count ? String(count) : '' });
  await chrome.action.setTitle({ title: count ? `ticketbox: ${count} waiting to be sent` : 'Report a bug' });
}

async function upload({ id, envelope, title, description, project, priority, streams, screenshot }: Queued) {
  const form = new FormData();
  const capture = {
    ...envelope,
    id,
    title: title.trim() || null,
    description,
    project_id: project,
    priority,
  };
  form.append('capture', new Blob([JSON.stringify(capture)], { type: 'application/json' }));
  if (screenshot) form.append('screenshot', screenshot, 'screenshot');
  for (const [name, entries] of Object.entries(streams)) form.append(name, await packed(entries), name);
  return form;
}

async function packed(value: unknown): Promise<Blob> {
  const stream = new Blob([JSON.stringify(value)]).stream().pipeThrough(new CompressionStream('gzip'));
  return new Response(stream).blob();
}
