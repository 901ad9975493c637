/** Reports as files, which `ticketbox capture import` sends (docs/use/command-line.md). */
import { outbox, type QueuedCapture } from '../storage';
import { describeCapture } from './upload';

/** The format of the file. Older servers read only the versions that they know. */
const VERSION = 1;

/** Download a report of the outbox: exactly what would be sent. Nothing happens if it was sent or deleted. */
export async function downloadReport(id: string): Promise<void> {
  const capture = await outbox.get(id);
  if (!capture) return;
  const url = URL.createObjectURL(await createReportFile(capture));
  const link = Object.assign(document.createElement('a'), { href: url, download: nameFile(capture) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

async function createReportFile(capture: QueuedCapture): Promise<Blob> {
  const { streams, replay, screenshot, marks = [], assignee, existing, description } = capture;
  const report = {
    ticketbox_report: VERSION,
    capture: describeCapture(capture),
    streams,
    screenshot: screenshot && (await encodeBase64(screenshot)),
    replay: replay ? await encodeBase64(replay.data) : null,
    annotations: marks,
    assignee: existing ? null : assignee || null,
    comment: existing ? description || null : null,
  };
  return new Blob([JSON.stringify(report)], { type: 'application/json' });
}

function nameFile({ envelope, queued }: QueuedCapture): string {
  const host = URL.parse(envelope.page.url)?.hostname.replace(/[^a-z0-9.-]/gi, '') || 'page';
  return `report-${host}-${new Date(queued).toISOString().slice(0, 16).replace(':', '')}.json`;
}

async function encodeBase64(blob: Blob): Promise<string> {
  const reader = new FileReader();
  const read = new Promise((resolve, reject) => {
    reader.onload = resolve;
    reader.onerror = () => reject(reader.error as Error);
  });
  reader.readAsDataURL(blob);
  await read;
  const url = reader.result as string;
  return url.slice(url.indexOf(',') + 1);
}
