/** Tickets of failing tests: one for each fingerprint, counted, and noted when the test passes. */
import { isFinal } from './client.js';
import { clip, findCommit, identifyTest } from './failures.js';

const MAX_ASKED = 10_000; // characters of a name or a message
const PAGE = 100;

/** File a failure, or count it on the ticket that it already has; return a line that says so. */
export async function fileFailure(client, options, failure) {
  const { answer: found } = await client.call('POST', '/failures/find', {
    project_id: options.project,
    test: clipAsked(failure.name),
    message: clipAsked(failure.message),
  });
  let ticket = found.ticket_id;
  if (ticket === null) {
    const { status, answer } = await sendCapture(client, options, failure, found.capture_id);
    if (status === 201) return `${failure.name}: created ${answer.url}`;
    ticket = answer.ticket_id; // a run in parallel has just created it
  }
  const [url, count] = await countFailure(client, options, ticket);
  return `${failure.name}: ${url} (${count} times)`;
}

/** Cut a text that a question can have, and replace halves of characters. */
function clipAsked(text) {
  return Buffer.from(clip(text, MAX_ASKED)).toString();
}

/** Send a capture; one that is refused is sent again without its screenshot, then with its trace as a mere file. */
async function sendCapture(client, options, failure, id) {
  try {
    return await client.call('POST', '/captures', buildForm(options, failure, id));
  } catch (error) {
    if (isFinal(error) || !(failure.screenshot || failure.trace)) throw error;
    const { screenshot, trace, ...rest } = failure;
    const less = screenshot && !error.isOfTrace ? { ...rest, trace } : { ...rest, screenshot, file: trace };
    return sendCapture(client, options, less, id);
  }
}

/** Count a failure, and reopen a ticket whose test passed or that was resolved; return its URL and the count. */
async function countFailure(client, { label }, ticketId) {
  const { answer } = await client.call('POST', `/tickets/${ticketId}/occurrences`);
  const ticket = await loadTicket(client, ticketId);
  if (ticket.resolved || !ticket.labels.includes(label)) {
    const labels = [...new Set([...ticket.labels, label])];
    await client.call('PATCH', `/tickets/${ticketId}`, {
      labels,
      ...(ticket.resolved ? { resolved: false } : {}),
    });
    await client.call('POST', `/tickets/${ticketId}/comments`, {
      body: `The test fails again${onCommit()}.`,
    });
  }
  return [ticket.url, answer.occurrences];
}

/** Comment on the tickets whose tests passed, and remove their label; return lines that say so. */
export async function notePasses(client, { project, label }, passed) {
  if (passed.size === 0) return [];
  const names = new Map([...passed].map((name) => [identifyTest(name), name]));
  const lines = [];
  for (const { id } of await listOpenTickets(client, project, label)) {
    try {
      lines.push(...(await notePass(client, id, label, names)));
    } catch (error) {
      if (isFinal(error)) throw error;
      lines.push(`the pass isn't noted on ${id}: ${error.message}`);
    }
  }
  return lines;
}

async function notePass(client, id, label, names) {
  const ticket = await loadTicket(client, id);
  const name = names.get(/^- Test id: `([0-9a-f]{16})`$/m.exec(ticket.description)?.[1]);
  if (name === undefined) return [];
  const times = ticket.occurrences === 1 ? 'one failure' : `${ticket.occurrences} failures`;
  await client.call('POST', `/tickets/${id}/comments`, {
    body: `The test passes${onCommit()}, after ${times}.`,
  });
  await client.call('PATCH', `/tickets/${id}`, { labels: ticket.labels.filter((each) => each !== label) });
  return [`${name}: passes; commented on ${ticket.url}`];
}

async function listOpenTickets(client, project, label) {
  const query = new URLSearchParams({ project_id: project, label, resolved: 'false', limit: String(PAGE) });
  const tickets = [];
  do {
    const { answer } = await client.call('GET', `/tickets?${query}`);
    tickets.push(...answer.items);
    query.set('cursor', answer.next_cursor ?? '');
  } while (query.get('cursor'));
  return tickets;
}

async function loadTicket(client, id) {
  return (await client.call('GET', `/tickets/${id}?include=`)).answer;
}

function onCommit() {
  const commit = findCommit();
  return commit && ` on ${commit.slice(0, 12)}`;
}

function buildForm({ project, label, attachTrace }, failure, id) {
  const { trace } = failure;
  const streams = trace ? {} : number({ console: failure.console, errors: failure.errors }); // a trace has them
  const capture = {
    id,
    project_id: project,
    page: { url: 'about:blank', title: '' },
    captured_at: failure.capturedAt,
    health: {
      console: { status: 'ok', captured: failure.console.length },
      errors: { status: 'ok', captured: failure.errors.length },
      network: { status: 'disabled' },
      actions: { status: 'disabled' },
    },
    title: failure.title,
    description: failure.description,
    labels: [label],
    keep_trace: Boolean(trace && attachTrace),
  };
  const form = new FormData();
  form.set('capture', new Blob([JSON.stringify(capture)], { type: 'application/json' }));
  for (const [name, entries] of Object.entries(streams))
    form.set(name, new Blob([JSON.stringify(entries)]), name);
  if (failure.screenshot) form.set('screenshot', new Blob([failure.screenshot.data]), 'screenshot');
  if (trace) form.set('trace', new Blob([trace.data]), trace.name);
  if (failure.file && attachTrace)
    form.append('attachments', new Blob([failure.file.data]), failure.file.name);
  return form;
}

/** Number the entries of all streams. */
function number(streams) {
  let seq = 0;
  for (const entry of Object.values(streams).flat()) entry.seq = seq++;
  return streams;
}
