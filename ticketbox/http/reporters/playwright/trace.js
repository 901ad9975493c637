/** Reading traces of Playwright, formats 7 to 10, as `ticketbox capture import` does. */
import { openArchive } from './archive.js';
import { buildAction } from './actions.js';
import { clip, formatArguments, plain, STREAMS } from './entries.js';
import { buildRequest } from './requests.js';

const OLDEST = 7;
const NEWEST = 10;
const MAX_PICTURE = 10 * 1024 * 1024;
const LEVELS = { debug: 'debug', info: 'info', warning: 'warn', error: 'error', assert: 'error' };
const STACK_LINE = /^\s*at (?:(.{1,200}?) \()?(\S{1,2000}?):(\d{1,9}):(\d{1,9})\)?\s*$/;

/** Read a trace. Throws if it isn't one that can be read. */
export async function readTrace(path) {
  const archive = await openArchive(path);
  const reader = new TraceReader(archive);
  for (const name of archive.names) if (name.endsWith('.trace')) reader.readEvents(name);
  for (const name of archive.names) if (name.endsWith('.network')) reader.readRequests(name);
  return reader.finish();
}

class TraceReader {
  constructor(archive) {
    this.archive = archive;
    this.recording = {
      capturedAt: 0, pageUrl: '', environment: {}, recorded: Object.values(STREAMS),
      console: [], network: [], errors: [], actions: [],
    }; // prettier-ignore
    this.frame = { at: -1, name: '' };
    this.address = { at: -1, url: '' };
    this.failures = [];
    this.hasSnapshots = false;
  }

  readEvents(name) {
    let context = null;
    for (const event of readLines(this.archive, name)) {
      if (context === null) {
        context = requireContext(event);
        this.describeContext(context);
      } else {
        this.addEvent(event, context.wallTime - context.monotonicTime);
      }
    }
  }

  describeContext(context) {
    const { recording } = this;
    recording.capturedAt = Math.max(recording.capturedAt, context.wallTime);
    if (context.platform) recording.environment.os = context.platform;
    const viewport = context.options?.viewport;
    if (viewport)
      recording.environment.viewport = {
        width: Math.round(viewport.width),
        height: Math.round(viewport.height),
      };
  }

  readRequests(name) {
    for (const event of readLines(this.archive, name)) {
      if (event.type !== 'resource-snapshot') continue;
      const entry = buildRequest(event.snapshot, (file) => this.archive.read(file));
      if (!entry) continue;
      this.add('network', entry);
      if (entry.type === 'document') this.recording.pageUrl ||= entry.url;
      this.recording.environment.browser ??= describeBrowser(event.snapshot);
    }
  }

  addEvent(event, offset) {
    const ts = Math.max(0, offset + (event.time ?? event.startTime ?? event.timestamp ?? 0));
    switch (event.type) {
      case 'before': {
        const action = buildAction(event, ts);
        if (action) this.add('actions', action);
        if (action?.url) this.noteAddress(ts, action.url);
        break;
      }
      case 'console':
        if (!event.args?.length && event.text?.startsWith('[DOM] ')) break; // Chromium's own remarks
        this.add('console', buildConsoleEntry(event, ts));
        break;
      case 'stdout':
      case 'stderr':
        if (event.text?.trim())
          this.add('console', {
            ts,
            level: event.type === 'stderr' ? 'error' : 'log',
            args: [clip(plain(event.text.trimEnd()))],
            source: event.type,
          });
        break;
      case 'event':
        if (event.method === 'pageError')
          this.add('errors', buildPageError(event.params?.error?.error ?? {}, ts));
        break;
      case 'error':
        this.failures.push(clip(plain(event.message ?? '')));
        break;
      case 'screencast-frame':
        if (ts >= this.frame.at) this.frame = { at: ts, name: event.file ?? `resources/${event.sha1}` };
        break;
      case 'frame-snapshot':
        this.hasSnapshots = true;
        if (event.snapshot?.isMainFrame && /^(https?|file):/.test(event.snapshot.frameUrl))
          this.noteAddress(event.snapshot.wallTime ?? 0, event.snapshot.frameUrl);
        break;
    }
  }

  add(stream, entry) {
    this.recording.capturedAt = Math.max(this.recording.capturedAt, entry.ts);
    this.recording[stream].push(entry);
  }

  noteAddress(at, url) {
    if (at >= this.address.at) this.address = { at, url };
  }

  finish() {
    const { recording } = this;
    if (!this.hasSnapshots && recording.network.length === 0)
      recording.recorded = recording.recorded.filter((each) => each !== STREAMS.network); // needs snapshots
    recording.pageUrl = this.address.url || recording.pageUrl || 'about:blank';
    for (const failure of this.failures.slice(0, 20)) {
      const [, name = '', message] = /^(?:([A-Za-z_$][\w$]*): )?([^]*)$/.exec(failure);
      recording.errors.push({ ts: recording.capturedAt, kind: 'error', name, message });
    }
    const picture = this.frame.name && this.archive.read(this.frame.name);
    if (picture && picture.length <= MAX_PICTURE)
      recording.screenshot = { name: 'screenshot', data: picture };
    return recording;
  }
}

function* readLines(archive, name) {
  const data = archive.read(name);
  for (let start = 0; start < data.length;) {
    let end = data.indexOf(10, start);
    if (end < 0) end = data.length;
    const line = data.toString('utf8', start, end);
    start = end + 1;
    let event = null;
    try {
      event = JSON.parse(line);
    } catch {
      continue; // one event less, not a trace less
    }
    if (event && typeof event === 'object') yield event;
  }
}

function requireContext(event) {
  if (event.type !== 'context-options') throw new Error("the file isn't a trace of Playwright");
  if (!(event.version >= OLDEST && event.version <= NEWEST))
    throw new Error(`the trace has format ${event.version}; formats ${OLDEST} to ${NEWEST} can be read`);
  return event;
}

function buildConsoleEntry(event, ts) {
  const values = event.args?.slice(0, 100).map((each) => String(each.preview ?? '')) ?? [];
  const texts = values.length ? formatArguments(values) : [event.text];
  const { url, lineNumber = 0, columnNumber = 0 } = event.location ?? {};
  return {
    ts,
    level: LEVELS[event.messageType] ?? 'log',
    args: texts.map((each) => clip(plain(String(each ?? '')))),
    source: url ? `${url}:${lineNumber + 1}:${columnNumber + 1}` : null,
  };
}

function buildPageError({ message = '', name = '', stack = '' }, ts) {
  const frames = [];
  for (const line of clip(stack).split('\n').slice(0, 200)) {
    const match = STACK_LINE.exec(line);
    if (match)
      frames.push({
        url: match[2],
        function: match[1] ?? null,
        line: Number(match[3]),
        column: Number(match[4]),
      });
  }
  const [first] = frames;
  return {
    ts, kind: 'error', message: clip(plain(message)), name, stack: clip(stack) || null, frames,
    source: first ? `${first.url}:${first.line}:${first.column}` : null,
  }; // prettier-ignore
}

function describeBrowser({ request }) {
  const agent = request?.headers?.find(({ name }) => name.toLowerCase() === 'user-agent')?.value ?? '';
  const match = /\b(Edg|Firefox)\/(\d+\.\d+)/.exec(agent) ?? /(Chrome|Version)\/(\d+\.\d+)/.exec(agent);
  return match ? `${{ Edg: 'Edge', Version: 'Safari' }[match[1]] ?? match[1]} ${match[2]}` : undefined;
}
