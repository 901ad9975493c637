/** What the browser's own debugger tells of a tab: its requests, and what its workers say. */
import { MOST_BODY, isTextual, without } from '../collect/requests';
import { Ring } from '../collect/ring';
import { asText, place } from '../collect/stack';
import type { ConsoleEntry, ErrorEntry, Frame, NetworkEntry, Record } from '../shapes';
import type { Call, Failed, Finished, Request, Response, Received, Socket, Thrown, Value } from './protocol';

const LEVELS: { [type: string]: ConsoleEntry['level'] } = {
  debug: 'debug',
  info: 'info',
  warning: 'warn',
  error: 'error',
  assert: 'error',
};
const TYPES = new Set(['document', 'stylesheet', 'image', 'media', 'font', 'script', 'xhr', 'fetch']);
const MOST_TEXT = 8_192;
const MOST_REMEMBERED = 100;

interface Kept {
  entry: NetworkEntry;
  /** By the debugger's own clock, in seconds. */
  began: number;
}

/** One tab's log. A new page in the tab begins with the request for it; what was before is forgotten. */
export class Log {
  began = Date.now();
  #requests = new Ring<NetworkEntry>(2_000, 8_000_000);
  #console = new Ring<ConsoleEntry>(500, 1_000_000);
  #errors = new Ring<ErrorEntry>(100, 500_000);
  readonly #open = new Map<string, Kept>();
  /** Those that failed last: the debugger may tell their status after their end. */
  readonly #failed = new Map<string, NetworkEntry>();
  /** Statuses that were told before their requests. */
  readonly #early = new Map<string, number>();
  #next: { loader: string; ts: number } | null = null;
  #seq = 0;

  constructor(
    /** The page's own frame. */
    private readonly main: string,
    /** Whether a project's policy wants the bodies of a page. */
    private readonly bodies: (page: string) => boolean,
  ) {}

  /** What was heard, as the recorder in the page gives it. */
  record(): Record {
    const [console, network, errors] = [this.#console, this.#requests, this.#errors];
    return {
      began: this.began,
      late: false,
      console: console.all,
      network: network.all,
      errors: errors.all,
      dropped: { console: console.dropped, network: network.dropped, errors: errors.dropped },
    };
  }

  sent(key: string, from: string | null, event: Request): void {
    const before = this.#open.get(key);
    if (before && event.redirectResponse) {
      answered(before.entry, event.redirectResponse);
      this.#end(key, event.timestamp);
    }
    const { request, frameId, documentURL, initiator } = event;
    const type = (event.type ?? 'other').toLowerCase();
    const ts = event.wallTime * 1000;
    const page = type === 'document' && frameId === this.main;
    if (page && !event.redirectResponse) this.#next = { loader: event.loaderId, ts };
    const entry: NetworkEntry = {
      id: '-',
      ts,
      method: request.method.slice(0, 32),
      url: request.url.slice(0, 16_384),
      status: this.#early.get(key) ?? null,
      status_text: '',
      type: TYPES.has(type) ? type : 'other',
      duration_ms: null,
      initiator: (initiator.url ?? initiator.stack?.callFrames[0]?.url ?? null) || null,
      request: { headers: shown(request.headers), ...this.#sentBody(event, type) },
      response: { headers: {}, ...without(), mime: null },
      error: null,
      from_cache: false,
      frame: from ?? (frameId === this.main || !frameId ? null : documentURL),
    };
    this.#early.delete(key);
    this.#open.set(key, { entry, began: event.timestamp });
    this.#requests.push(entry, 500 + entry.url.length);
  }

  received(key: string, { response }: Received): void {
    const entry = this.#open.get(key)?.entry;
    if (entry) answered(entry, response);
  }

  /**
   * The status of an answer that the browser keeps from the page; those of redirections come by themselves.
   * The network tells it, the page tells of its request, and either may be heard first.
   */
  status(key: string, status: number): void {
    if (status >= 300 && status < 400) return;
    const entry = this.#open.get(key)?.entry ?? this.#failed.get(key);
    if (entry) entry.status ??= status;
    else remember(this.#early, key, status);
  }

  cached(key: string): void {
    const entry = this.#open.get(key)?.entry;
    if (entry) entry.from_cache = true;
  }

  /** The request whose body may be asked for now, if its policy wants that. */
  finished(key: string, { timestamp, encodedDataLength }: Finished): NetworkEntry | null {
    const entry = this.#end(key, timestamp);
    if (!entry?.response) return null;
    entry.response.bytes = Math.round(encodedDataLength);
    const textual = isTextual(entry.response.mime ?? undefined);
    const wanted = this.bodies(entry.url);
    entry.response.omitted_reason = !wanted ? 'policy' : textual ? 'unavailable' : 'binary';
    return wanted && textual ? entry : null;
  }

  failed(key: string, { timestamp, errorText, canceled, blockedReason, corsErrorStatus }: Failed): void {
    const entry = this.#end(key, timestamp);
    const why = [errorText, blockedReason, corsErrorStatus?.corsError].filter(Boolean).join(' ');
    if (!entry) return;
    entry.error = canceled ? 'aborted' : why.slice(0, 500);
    remember(this.#failed, key, entry);
  }

  opened(key: string, from: string | null, url: string, { wallTime, timestamp, request }: Socket): void {
    const initiator = { url: '' };
    const sent = { url, method: 'GET', headers: request.headers };
    const event = { request: sent, wallTime, timestamp, initiator, loaderId: '', documentURL: '' };
    this.sent(key, from, event);
    this.#open.get(key)!.entry.type = 'websocket';
  }

  /** A socket that couldn't be opened, or that went wrong; its end is told by itself. */
  broken(key: string, why: string): void {
    const entry = this.#open.get(key)?.entry;
    if (entry) entry.error ??= why.slice(0, 500);
  }

  closed(key: string, timestamp: number): void {
    this.#end(key, timestamp);
  }

  /** Another page stands in the tab. */
  moved(loader: string): void {
    if (this.#next?.loader !== loader) return;
    const { ts } = this.#next;
    const kept = this.#requests.all.filter((each) => each.ts >= ts);
    this.began = ts;
    this.#requests = new Ring(2_000, 8_000_000);
    for (const each of kept) this.#requests.push(each, 500 + each.url.length);
    this.#console = new Ring(500, 1_000_000);
    this.#errors = new Ring(100, 500_000);
  }

  said(worker: string, { type, args, timestamp, stackTrace }: Call): void {
    const words = args.map((each) => textOf(each).slice(0, MOST_TEXT));
    const last = this.#console.last;
    if (last && last.frame === worker && JSON.stringify(last.args) === JSON.stringify(words)) {
      last.repeat! += 1;
      return;
    }
    const frames = framesOf(stackTrace);
    const entry: ConsoleEntry = {
      seq: (this.#seq += 1),
      ts: timestamp,
      level: LEVELS[type] ?? 'log',
      args: words.slice(0, 50),
      stack: asText(frames),
      source: frames[0] ? place(frames[0]) : null,
      repeat: 1,
      truncated: args.length > 50 || args.some((each) => textOf(each).length > MOST_TEXT),
      frame: worker,
    };
    this.#console.push(entry, words.join('').length + 200);
  }

  threw(worker: string, { timestamp, exceptionDetails: { exception, text, stackTrace } }: Thrown): void {
    const stack = exception?.description ?? text;
    const [, name = '', message = ''] = /^(?:([\w$]*Error): )?([^\n]*)/.exec(stack) ?? [];
    const frames = framesOf(stackTrace);
    const source = frames[0] ? place(frames[0]) : null;
    const entry: ErrorEntry = {
      seq: (this.#seq += 1),
      ts: timestamp,
      kind: text.includes('in promise') ? 'unhandledrejection' : 'error',
      name,
      message: message.slice(0, MOST_TEXT),
      stack: stack.slice(0, 16_384),
      frames,
      source,
      fingerprint: `worker:${name}:${source ?? message}`.slice(0, 128),
      count: 1,
      frame: worker,
    };
    this.#errors.push(entry, stack.length + message.length);
  }

  #end(key: string, timestamp: number): NetworkEntry | undefined {
    const kept = this.#open.get(key);
    this.#open.delete(key);
    if (kept) kept.entry.duration_ms = Math.max(0, (timestamp - kept.began) * 1000);
    return kept?.entry;
  }

  /** What a script sends as text. What a form sends is what somebody filled in, and is never read. */
  #sentBody({ request, documentURL }: Request, type: string) {
    const text = request.postData;
    if (text == null) return without(request.hasPostData ? 'unavailable' : null);
    if (!this.bodies(documentURL)) return without('policy', text.length);
    const form = type === 'document' || /multipart\/form-data/i.test(request.headers['Content-Type'] ?? '');
    return form ? without('unavailable', text.length) : cut(text);
  }
}

/** The beginning of a text. */
export function cut(text: string) {
  const limit = text.length > MOST_BODY;
  return {
    body: text.slice(0, MOST_BODY),
    bytes: text.length,
    omitted_reason: limit ? ('limit' as const) : null,
  };
}

/** Keep a value, and of the oldest no more than may still be asked for. */
function remember<T>(kept: Map<string, T>, key: string, value: T): void {
  kept.set(key, value);
  if (kept.size > MOST_REMEMBERED) kept.delete(kept.keys().next().value!);
}

function answered(entry: NetworkEntry, answer: Response): void {
  entry.status = answer.status || null;
  entry.status_text = answer.statusText;
  entry.from_cache ||= answer.fromDiskCache === true || answer.fromServiceWorker === true;
  const headers = shown(answer.headers);
  entry.response = { headers, ...without(), mime: answer.mimeType || null };
}

/** Cookies aren't even kept here. */
function shown(headers: { [name: string]: string }): { [name: string]: string } {
  const kept = Object.entries(headers).filter(([name]) => !/^(?:set-)?cookie2?$/i.test(name));
  return Object.fromEntries(
    kept.slice(0, 100).map(([name, value]) => [name.toLowerCase(), value.slice(0, 8_192)]),
  );
}

function framesOf(stack: Call['stackTrace']): Frame[] {
  return (stack?.callFrames ?? []).slice(0, 50).map((each) => ({
    url: each.url,
    function: each.functionName || null,
    line: each.lineNumber + 1,
    column: each.columnNumber + 1,
  }));
}

function textOf({ type, value, description, preview, unserializableValue }: Value): string {
  if (typeof value === 'string') return value;
  if (preview?.properties.length) {
    const array = preview.subtype === 'array';
    const parts = preview.properties.map(({ name, value: of }) => (array ? `${of}` : `${name}: ${of}`));
    return array ? `[${parts.join(', ')}]` : `{${parts.join(', ')}}`;
  }
  return unserializableValue ?? description ?? (value === undefined ? type : JSON.stringify(value));
}
