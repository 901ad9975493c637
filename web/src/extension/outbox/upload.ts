import type { Input } from '../../shared/annotation/marks';
import { callApi } from '../connection/api';
import { ApiError } from '../connection/request';
import { findChosen } from '../draft/choose-bug';
import type { ExistingTicket, QueuedCapture, SentCapture } from '../storage';
import { gzipJson } from '../tab-recording/compression';
import { cleanTitle } from '../../shared/clean-title';

interface Receipt {
  ticket_id: string;
  url: string;
}

/** Upload a capture and its annotations. Raises ApiError; trying again repeats only what is missing. */
export async function uploadCapture(capture: QueuedCapture): Promise<SentCapture> {
  const body = await createForm(capture);
  const { ticket_id, url } = await callApi<Receipt>('/captures', { method: 'POST', body });
  if (capture.marks?.length) await putAnnotations(ticket_id, capture.marks);
  if (capture.existing) await countAgain(capture, capture.existing);
  const note = capture.assignee && !capture.existing ? await assign(ticket_id, capture.assignee) : undefined;
  const bytes = [...body.values()].reduce((sum, each) => sum + (each as File).size, 0);
  return { ticketId: ticket_id, url, bytes, ...(note ? { note } : {}) };
}

/** Assign the ticket. Returns why the server refuses that, for example because the member has left. */
async function assign(ticketId: string, user: string): Promise<string | undefined> {
  try {
    await callApi(`/tickets/${ticketId}/assignees/${user}`, { method: 'PUT' });
  } catch (error) {
    if (!(error instanceof ApiError) || error.isTemporary) throw error;
    return `The ticket couldn’t be assigned: ${error.message}`;
  }
  return undefined;
}

/** Put the annotations on the uploaded screenshot. If this fails, both steps are repeated, which changes nothing else. */
async function putAnnotations(ticketId: string, marks: Input[]): Promise<void> {
  const ticket = await callApi<{ capture: { screenshot: { id: string } } }>(
    `/tickets/${ticketId}?include=capture`,
  );
  await sendJson('PUT', `/assets/${ticket.capture.screenshot.id}/annotations`, { annotations: marks });
}

/** Count that the bug of a ticket was seen again, with what the person wrote, and reopen the ticket. */
async function countAgain({ id, description }: QueuedCapture, ticket: ExistingTicket): Promise<void> {
  const path = `/tickets/${ticket.id}`;
  await sendJson('POST', `${path}/occurrences`, {}, `${id}-seen`);
  if (description) await sendJson('POST', `${path}/comments`, { body: description }, `${id}-comment`);
  if (ticket.resolved) await sendJson('PATCH', path, { resolved: false });
}

async function sendJson(method: string, path: string, body: object, key?: string): Promise<void> {
  const headers = { 'Content-Type': 'application/json', ...(key ? { 'Idempotency-Key': key } : {}) };
  await callApi(path, { method, headers, body: JSON.stringify(body) });
}

/** The part `capture` of a request, or of a file. */
export function describeCapture(capture: QueuedCapture): object {
  const { id, envelope, title, description, project, priority, expectations = [], keptNumbers } = capture;
  const target = capture.existing
    ? { ticket_id: capture.existing.id }
    : { title: cleanTitle(title) || null, description, project_id: project, priority };
  const bug = findChosen(capture);
  const wrong = expectations.length && { expectations, kept_numbers: keptNumbers ?? [] };
  return { ...envelope, id, ...(bug && { bug }), ...wrong, ...target };
}

async function createForm(capture: QueuedCapture): Promise<FormData> {
  const { streams, replay, screenshot } = capture;
  const form = new FormData();
  const fields = JSON.stringify(describeCapture(capture));
  form.append('capture', new Blob([fields], { type: 'application/json' }));
  if (screenshot) form.append('screenshot', screenshot, 'screenshot');
  for (const [name, entries] of Object.entries(streams)) form.append(name, await gzipJson(entries), name);
  if (replay) form.append('replay', replay.data, 'replay');
  return form;
}
