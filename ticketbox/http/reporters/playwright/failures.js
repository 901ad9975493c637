/** What a failed test says about its failure: a title, a description, and what the runner recorded. */
import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';

const MAX_TITLE = 300;
const MAX_SHOWN = 4_000;
const MAX_TEXT = 100_000;
const MAX_ENTRIES = 5_000;
const MAX_PICTURE = 10 * 1024 * 1024;
const MAX_TRACE = 30 * 1024 * 1024; // an upload has up to 32 MiB
/** Tests can attach anything under these names. */
const TYPES = { trace: /^application\/zip$/, screenshot: /^image\/(png|jpeg)$/ };

/** The name of a test: its file and titles, without the browser. */
export function describeTest(test, root) {
  const [, , , ...titles] = test.titlePath();
  return [path.relative(root, test.location.file).split(path.sep).join('/'), ...titles].join(' › ');
}

/** Describe the last failure of a test, or the last that has a trace: some retries have one only. */
export async function describeFailure(name, test, outcome, file) {
  const failed = test.results.filter(
    ({ status }) => ![test.expectedStatus, 'skipped', 'interrupted'].includes(status),
  );
  const result = failed.findLast((each) => findAttachment(each, 'trace')) ?? failed.at(-1);
  const message = readMessage(result);
  const titles = test.titlePath().slice(3).join(' › ');
  const capturedAt = result.startTime.getTime() + result.duration;
  return {
    name,
    title: clip(joinLine(`${titles}: ${message.split('\n')[0]}`), MAX_TITLE),
    description: describe(name, test, outcome, file, message),
    message,
    capturedAt,
    console: listOutput(result, capturedAt),
    errors: result.errors.map((error) => ({
      ts: capturedAt,
      kind: 'error',
      message: clip(plain(error.message ?? error.value ?? '')),
    })),
    trace: await readAttachment(result, 'trace', MAX_TRACE),
    screenshot: await readScreenshot([result, ...[...failed].reverse()]),
  };
}

/** List what a run printed, as entries of the stream `console`. */
function listOutput({ stdout, stderr }, ts) {
  const output = [
    ...stdout.map((text) => ['log', text, 'stdout']),
    ...stderr.map((text) => ['error', text, 'stderr']),
  ];
  return output
    .slice(-MAX_ENTRIES)
    .map(([level, text, source]) => ({ ts, level, args: [clip(plain(String(text)))], source }));
}

/** Cut a text. */
export function clip(text, limit = MAX_TEXT) {
  return text.length > limit ? text.slice(0, limit) : text;
}

/** Remove the colours of a terminal from a text. */
export function plain(text) {
  return text.replace(/\u001b\[[0-9;]*m/g, '');
}

/** What a failed run says; a test that is expected to fail, and passes, has no error. */
function readMessage({ status, errors: [error] }) {
  const none = status === 'passed' ? 'Expected to fail, but passed.' : `The test has the status ${status}.`;
  return plain(error?.message ?? error?.value ?? none);
}

function joinLine(text) {
  return text.replace(/[\s\p{Cc}]+/gu, ' ').trim();
}

/** An id that a test has in descriptions: something in its name may be redacted there. */
export function identifyTest(name) {
  return createHash('sha256').update(name).digest('hex').slice(0, 16);
}

function describe(name, test, outcome, file, message) {
  const { env } = process;
  const run =
    env.CI_JOB_URL ??
    (env.GITHUB_RUN_ID &&
      `${env.GITHUB_SERVER_URL}/${env.GITHUB_REPOSITORY}/actions/runs/${env.GITHUB_RUN_ID}`);
  const facts = [
    `Test: \`${name.replaceAll('`', "'").replace(/\s+/g, ' ')}\``,
    `Test id: \`${identifyTest(name)}\``,
    `Place: \`${file}:${test.location.line}\``,
    ...(findCommit() ? [`Commit: \`${findCommit()}\``] : []),
    ...(run ? [`Run: ${run}`] : []),
  ];
  const verb = outcome === 'flaky' ? 'is flaky: it failed, and passed when it was repeated' : 'failed';
  const shown = clip(message, MAX_SHOWN).replaceAll('```', "'''");
  return `A Playwright test ${verb}.\n\n\`\`\`\n${shown}\n\`\`\`\n\n${facts.map((each) => `- ${each}`).join('\n')}\n`;
}

/** The commit that CI says it tests. */
export function findCommit() {
  const { env } = process;
  return env.GITHUB_SHA ?? env.CI_COMMIT_SHA ?? env.TICKETBOX_COMMIT ?? '';
}

function findAttachment(result, name) {
  return result.attachments.findLast((each) => each.name === name && TYPES[name].test(each.contentType));
}

async function readScreenshot(results) {
  for (const each of results) {
    const found = await readAttachment(each, 'screenshot', MAX_PICTURE);
    if (found) return found;
  }
  return undefined;
}

/** Return an attachment of a run as a name and a content; undefined without one, or if it is too large. */
async function readAttachment(result, name, limit) {
  const { path: file, body } = findAttachment(result, name) ?? {};
  try {
    const size = body?.length ?? (await stat(file)).size;
    return size > limit
      ? undefined
      : { name: file ? path.basename(file) : name, data: body ?? (await readFile(file)) };
  } catch {
    return undefined;
  }
}
