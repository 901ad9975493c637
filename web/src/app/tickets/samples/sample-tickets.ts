import { api, unwrap } from '../../core/server/client';
import TICKETS from '../../../../../ticketbox/demo/data/tickets.json';
import cart from '../../../../../ticketbox/demo/data/captures/cart.json?url';
import checkout from '../../../../../ticketbox/demo/data/captures/checkout.json?url';
import lamps from '../../../../../ticketbox/demo/data/captures/lamps.json?url';
import cartPicture from '../../../../../ticketbox/demo/data/screenshots/cart.webp?url';
import checkoutPicture from '../../../../../ticketbox/demo/data/screenshots/checkout.webp?url';
import lampsPicture from '../../../../../ticketbox/demo/data/screenshots/lamps.webp?url';
import { SAMPLE } from './samples';
import { createUuid } from '../../core/uuid';

/** The demo's tickets that show most, from the last to the first on the board. */
const FILES: Record<string, { capture: string; picture: string }> = {
  lamps: { capture: lamps, picture: lampsPicture },
  checkout: { capture: checkout, picture: checkoutPicture },
  cart: { capture: cart, picture: cartPicture },
};
const STREAMS = ['console', 'network', 'errors', 'actions'] as const;

interface SampleCapture extends Partial<Record<(typeof STREAMS)[number], { ts: number }[]>> {
  page: unknown;
  environment: unknown;
  captured_at: number;
}

/** Create the sample tickets of a project as the extension would, with their captures. Raises Problem. */
export async function addSampleTickets(project: string): Promise<void> {
  for (const [name, files] of Object.entries(FILES)) {
    const ticket = TICKETS.find((each) => each.capture === name)!;
    const fields = {
      project_id: project,
      title: ticket.title,
      description: ticket.description,
      priority: ticket.priority,
      labels: [...ticket.labels, SAMPLE],
    };
    const [recorded, screenshot] = await Promise.all([load(files.capture), load(files.picture)]);
    const body = createForm(fields, (await recorded.json()) as SampleCapture, await screenshot.blob());
    await unwrap(
      api.POST('/captures', { body: body as never, bodySerializer: (form: unknown) => form as FormData }),
    );
  }
}

async function load(url: string): Promise<Response> {
  const response = await fetch(url);
  if (!response.ok) throw new TypeError(`${url} answered ${response.status}`);
  return response;
}

/** The parts of a capture that was made now. The file's times count from the loading of the page. */
function createForm(fields: Record<string, unknown>, recorded: SampleCapture, screenshot: Blob): FormData {
  const now = Date.now();
  const loadedAt = now - recorded.captured_at;
  const streams = STREAMS.map((name) => {
    const entries = (recorded[name] ?? []).map((entry) => ({ ...entry, ts: entry.ts + loadedAt }));
    return { name, entries, health: { status: 'ok', captured: entries.length } };
  });
  const health = Object.fromEntries(streams.map(({ name, health }) => [name, health]));
  const envelope = {
    ...fields,
    id: createUuid(),
    page: recorded.page,
    environment: recorded.environment,
    captured_at: now,
    health: { ...health, page_loaded_at: loadedAt, history_started_at: loadedAt },
  };
  const form = new FormData();
  form.append('capture', new Blob([JSON.stringify(envelope)], { type: 'application/json' }));
  form.append('screenshot', screenshot, 'screenshot');
  for (const { name, entries } of streams) form.append(name, new Blob([JSON.stringify(entries)]), name);
  return form;
}
