import type { Input } from '../../shared/annotation/marks';
import { callApi } from '../connection/api';
import type { QueuedCapture } from '../storage';
import { gzipJson } from '../tab-recording/compression';

interface Receipt {
  ticket_id: string;
  url: string;
}

/** Upload a capture and its annotations. Returns the URL of its ticket. Raises ApiError. */
export async function uploadCapture(capture: QueuedCapture): Promise<string> {
  const body = await createForm(capture);
  const { ticket_id, url } = await callApi<Receipt>('/captures', { method: 'POST', body });
  if (capture.marks?.length) await putAnnotations(ticket_id, capture.marks);
  return url;
}

/** Put the annotations on the uploaded screenshot. If this fails, both steps are repeated, which changes nothing else. */
async function putAnnotations(ticketId: string, marks: Input[]): Promise<void> {
  const ticket = await callApi<{ capture: { screenshot: { id: string } } }>(
    `/tickets/${ticketId}?include=capture`,
  );
  await callApi(`/assets/${ticket.capture.screenshot.id}/annotations`, {
    method: 'PUT',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ annotations: marks }),
  });
}

async function createForm(capture: QueuedCapture): Promise<FormData> {
  const { id, envelope, title, description, project, priority, streams, replay, screenshot } = capture;
  const form = new FormData();
  const fields = {
    ...envelope,
    id,
    title: title.trim() || null,
    description,
    project_id: project,
    priority,
  };
  form.append('capture', new Blob([JSON.stringify(fields)], { type: 'application/json' }));
  if (screenshot) form.append('screenshot', screenshot, 'screenshot');
  for (const [name, entries] of Object.entries(streams)) form.append(name, await gzipJson(entries), name);
  if (replay) form.append('replay', replay.data, 'replay');
  return form;
}
