/** Tickets of failing tests: one for each fingerprint, counted, and noted when the test passes. */
import { isFinal } from './client.js';
import { clip, finishStreams } from './entries.js';
import { findCommit, identifyTest } from './failures.js';

const MAX_REPLACED = 5; // archived tickets of one fingerprint
const PAGE = 100;

/** File a failure, or count it on the ticket that it already has; return a line that says so. */
export async function fileFailure(client, options, failure) {
  for (let number = 0; number < MAX_REPLACED; number += 1) {
    const id = `test-${failure.fingerprint}${number ? `-${number}` : ''}`;
    const { status, answer } = await sendCapture(client, options, failure, id);
    if (status === 201) return `${failure.name}: created ${answer.url}`;
    try {
      const count = await countFailure(client, options, answer.ticket_id);
      return `${failure.name}: ${answer.url} (${count} times)`;
    } catch (error) {
      if (error.code !== 'ticket_archived') throw error; // an archived ticket is done with: this is a new bug
    }
  }
  return `${failure.name}: its tickets are archived; restore one of them`;
}

/** Send a capture; one that is refused is sent again without its screenshot, which may be damaged. */
async function sendCapture(client, options, failure, id) {
  try {
    return await client.call('POST', '/captures', buildForm(options, failure, id));
  } catch (error) {
    if (isFinal(error) || !failure.screenshot) throw error;
    return await client.call(
      'POST',
      '/captures',
      buildForm(options, { ...failure, screenshot: undefined }, id),
    );
  }
}

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
  return answer.occurrences;
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
  const { streams, health } = finishStreams(failure);
  const capture = {
    id,
    project_id: project,
    page: { url: clip(failure.pageUrl, 65_536), title: '' },
    captured_at: failure.capturedAt,
    health,
    environment: failure.environment,
    title: failure.title,
    description: failure.description,
    labels: [label],
  };
  const form = new FormData();
  form.set('capture', new Blob([JSON.stringify(capture)], { type: 'application/json' }));
  for (const [name, entries] of Object.entries(streams))
    form.set(name, new Blob([JSON.stringify(entries)]), name);
  if (failure.screenshot) form.set('screenshot', new Blob([failure.screenshot.data]), 'screenshot');
  if (failure.trace && attachTrace)
    form.append('attachments', new Blob([failure.trace.data]), failure.trace.name);
  return form;
}
