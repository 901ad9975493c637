/** What a failed test says about its failure: a fingerprint, a title, a description, and the parts of a capture. */
import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { clip, plain, STREAMS } from './entries.js';
import { readTrace } from './trace.js';

const MAX_TITLE = 300;
const MAX_SHOWN = 4_000;
const MAX_LINES = 4;
const MAX_PICTURE = 10 * 1024 * 1024;
const MAX_TRACE = 20 * 1024 * 1024;
/** Tests can attach anything under these names. */
const TYPES = { trace: /^application\/zip$/, screenshot: /^image\/(png|jpeg)$/ };

/** The name of a test: its file and titles, without the browser. */
export function describeTest(test, root) {
  const [, , , ...titles] = test.titlePath();
  return [path.relative(root, test.location.file).split(path.sep).join('/'), ...titles].join(' › ');
}

/** Describe the last failure of a test, or the last that has a trace: some retries have one only. */
export async function describeFailure(project, name, test, outcome, file) {
  const failed = test.results.filter(
    ({ status }) => ![test.expectedStatus, 'skipped', 'interrupted'].includes(status),
  );
  const result = failed.findLast((each) => findAttachment(each, 'trace')) ?? failed.at(-1);
  const message = readMessage(result);
  const titles = test.titlePath().slice(3).join(' › ');
  const recording = await readRecording(result);
  return {
    name,
    fingerprint: createHash('sha256')
      .update(`${project}\0${name}\0${normalize(message)}`)
      .digest('hex')
      .slice(0, 40),
    title: clip(joinLine(`${titles}: ${message.split('\n')[0]}`), MAX_TITLE),
    description: describe(name, test, outcome, file, message),
    message,
    ...recording,
    trace: await readAttachment(result, 'trace', MAX_TRACE),
    screenshot: (await readScreenshot([result, ...[...failed].reverse()])) ?? recording.screenshot,
  };
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

/**
 * Remove what differs each time from the first lines of a message: numbers, ids, addresses. Each expression stops
 * within a few characters of where it starts: a message may be one word of any length.
 */
function normalize(message) {
  return message
    .split('\n')
    .filter((line) => line.trim())
    .slice(0, MAX_LINES)
    .join('\n')
    .replace(/[a-z][a-z0-9+.-]{0,30}:\/\/[^\s'"<>)\]]+/gi, '@')
    .replace(/\b(?:0x[0-9a-f]+|(?=[0-9a-f-]{0,64}\d)[0-9a-f-]{7,})\b|\d+(?:[.,]\d+)*/gi, '#');
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

/** Read the trace of a run, or else what the runner knows: errors and output. */
async function readRecording(result) {
  const file = findAttachment(result, 'trace')?.path;
  let reason = '';
  if (file) {
    try {
      return await readTrace(file);
    } catch (error) {
      reason = error.message;
    }
  }
  const end = result.startTime.getTime() + result.duration;
  const output = [
    ...result.stdout.map((text) => ['log', text, 'stdout']),
    ...result.stderr.map((text) => ['error', text, 'stderr']),
  ];
  return {
    reason,
    capturedAt: end,
    pageUrl: 'about:blank',
    environment: {},
    recorded: [STREAMS.console, STREAMS.errors],
    console: output.map(([level, text, source]) => ({
      ts: end,
      level,
      args: [clip(plain(String(text)))],
      source,
    })),
    errors: result.errors.map((error) => ({
      ts: end,
      kind: 'error',
      message: clip(plain(error.message ?? error.value ?? '')),
    })),
    network: [],
    actions: [],
  };
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
