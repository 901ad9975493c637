/** Sends a report to the server that the script was loaded from. */
import { toJson } from '../recorder/natives/natives';
import { gzipJson } from '../extension/tab-recording/compression';
import { findChosen } from '../extension/draft/choose-bug';
import type { RecordedPage } from './describe-page';
import { encodeSnapshot } from './picture/take-snapshot';
import type { ReportAddress } from './report-address';

export const MAX_FILES = 5;
/** Less than the server's limit, because the recorded streams need room too. */
export const MAX_BYTES = 7_000_000;

/** What the person entered. */
export interface ReportText {
  title: string;
  description: string;
  name: string;
  email: string;
  /** A token that replaces name and email; empty without one. */
  identity: string;
  /** Made once for each report, so that a report whose answer was lost can be sent again. */
  id: string;
}

/** The server refused the identity; the message is for the page's developer. */
export class IdentityRefused extends Error {}

/** Send a report. Returns the address of its receipt. Raises Error with a message for the person, and IdentityRefused. */
export async function sendReport(
  address: ReportAddress,
  text: ReportText,
  recorded: RecordedPage | null,
  files: File[],
): Promise<string> {
  const form = new FormData();
  for (const [name, value] of Object.entries(text)) form.append(name, value.trim());
  if (recorded) await appendRecord(form, recorded);
  for (const file of files) form.append('attachments', file, file.name);
  const answer = await post(address.intake, form);
  if (!answer.ok) throw describeRefusal(answer, await readProblem(answer));
  return ((await answer.json()) as { url: string }).url;
}

/** Make the id of a report. */
export function createId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16)); // pages without HTTPS have no randomUUID
  return [...bytes].map((each) => each.toString(16).padStart(2, '0')).join('');
}

async function appendRecord(form: FormData, recorded: RecordedPage): Promise<void> {
  const { envelope, streams, expectations = [], picture } = recorded;
  const bug = findChosen(recorded);
  const named = { ...(bug && { bug }), ...(expectations.length && { expectations }) };
  const capture = { ...envelope, ...named, captured_at: new Date().toISOString() };
  form.append('capture', new Blob([toJson(capture)], { type: 'application/json' }), 'capture');
  for (const [name, entries] of Object.entries(streams)) form.append(name, await gzipJson(entries), name);
  if (picture) form.append('replay', await encodeSnapshot(picture), 'replay');
}

async function post(url: string, body: FormData): Promise<Response> {
  try {
    return await fetch(url, { method: 'POST', body, credentials: 'omit' });
  } catch {
    throw new Error('The report couldn’t be sent. Check your connection, and try again in a minute.');
  }
}

interface Problem {
  detail?: string;
  errors?: { field: string; message: string }[];
}

async function readProblem(answer: Response): Promise<Problem> {
  try {
    return (await answer.json()) as Problem;
  } catch {
    return {}; // of something between the page and the server
  }
}

function describeRefusal({ status, headers }: Response, { detail, errors }: Problem): Error {
  const refused = errors?.find(({ field }) => field === 'identity');
  if (refused) return new IdentityRefused(refused.message);
  const seconds = Number(headers.get('retry-after'));
  if (status === 429)
    return new Error(
      seconds > 90
        ? 'No more reports are accepted here today.'
        : `Too many reports were sent. Try again in ${seconds || 60} seconds.`,
    );
  if (status === 413) return new Error('The report is too large. Remove a file.');
  return new Error(`The report wasn’t accepted${detail ? `: ${detail}` : ''}.`);
}
