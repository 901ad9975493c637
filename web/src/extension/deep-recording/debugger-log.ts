/** The log of one tab as its debugger reports it: requests, and the console and errors of workers. */
import type { ConsoleEntry, ErrorEntry, FrameRecord, NetworkEntry } from '../../recorder/capture-types';
import { isTextType, omitBody, truncateBody } from '../../recorder/network/bodies';
import { RingBuffer } from '../../recorder/ring-buffer';
import { formatFrames, formatLocation } from '../../recorder/stack-trace';
import type {
  ConsoleApiCalled,
  ExceptionThrown,
  LoadingFailed,
  LoadingFinished,
  RequestWillBeSent,
  Response,
  ResponseReceived,
  WebSocketWillSendHandshakeRequest,
} from './devtools-protocol';
import { convertFrames, convertHeaders, formatRemoteObject } from './convert';

const LEVELS: { [type: string]: ConsoleEntry['level'] } = {
  debug: 'debug',
  info: 'info',
  warning: 'warn',
  error: 'error',
  assert: 'error',
};
const TYPES = new Set(['document', 'stylesheet', 'image', 'media', 'font', 'script', 'xhr', 'fetch']);
const MAX_TEXT = 8_192;
const MAX_REMEMBERED = 100;

interface OpenRequest {
  entry: NetworkEntry;
  /** By the debugger's clock, in seconds. */
  startedAt: number;
}

/**
 * The log of one tab. Requests are identified by a key that is unique among the tab's workers.
 *
 * When another page opens in the tab, its log starts with the request for it; earlier entries are dropped.
 */
export class DebuggerLog {
  startedAt = Date.now();
  #requests = new RingBuffer<NetworkEntry>(2_000, 8_000_000);
  #console = new RingBuffer<ConsoleEntry>(500, 1_000_000);
  #errors = new RingBuffer<ErrorEntry>(100, 500_000);
  readonly #openRequests = new Map<string, OpenRequest>();
  /** The last failed requests: their status may be reported after they failed. */
  readonly #failedRequests = new Map<string, NetworkEntry>();
  /** Statuses that were reported before their requests. */
  readonly #earlyStatuses = new Map<string, number>();
  #navigation: { loaderId: string; ts: number } | null = null;
  #lastSeq = 0;

  constructor(
    private readonly mainFrameId: string,
    /** Whether the bodies of a page are recorded, by its URL. */
    private readonly recordsBodies: (url: string) => boolean,
  ) {}

  /** The log in the format of the recorder. */
  toRecord(): FrameRecord {
    const [console, network, errors] = [this.#console, this.#requests, this.#errors];
    return {
      startedAt: this.startedAt,
      startedLate: false,
      arrival: null,
      console: console.entries,
      network: network.entries,
      errors: errors.entries,
      actions: [],
      dropped: { console: console.dropped, network: network.dropped, errors: errors.dropped, actions: 0 },
    };
  }

  /** Add a request. `workerUrl`: the worker that made it; null for the page. */
  addRequest(key: string, workerUrl: string | null, event: RequestWillBeSent): void {
    const previous = this.#openRequests.get(key);
    if (previous && event.redirectResponse) {
      setResponse(previous.entry, event.redirectResponse);
      this.#closeRequest(key, event.timestamp);
    }
    const { request, frameId, documentURL, initiator } = event;
    const type = (event.type ?? 'other').toLowerCase();
    const ts = event.wallTime * 1000;
    const isNavigation = type === 'document' && frameId === this.mainFrameId;
    if (isNavigation && !event.redirectResponse) this.#navigation = { loaderId: event.loaderId, ts };
    const entry: NetworkEntry = {
      id: '-',
      ts,
      method: request.method.slice(0, 32),
      url: request.url.slice(0, 16_384),
      status: this.#earlyStatuses.get(key) ?? null,
      status_text: '',
      type: TYPES.has(type) ? type : 'other',
      duration_ms: null,
      initiator: (initiator.url ?? initiator.stack?.callFrames[0]?.url ?? null) || null,
      request: { headers: convertHeaders(request.headers), ...this.#readRequestBody(event, type) },
      response: { headers: {}, ...omitBody(), mime: null },
      error: null,
      from_cache: false,
      frame: workerUrl ?? (frameId === this.mainFrameId || !frameId ? null : documentURL),
      document: 0,
    };
    this.#earlyStatuses.delete(key);
    this.#openRequests.set(key, { entry, startedAt: event.timestamp });
    this.#requests.push(entry, 500 + entry.url.length);
  }

  addResponse(key: string, { response }: ResponseReceived): void {
    const entry = this.#openRequests.get(key)?.entry;
    if (entry) setResponse(entry, response);
  }

  /**
   * Set the status of a response that the browser hides from the page. The debugger reports it and the request in any
   * order. The status of a redirect is in the event of the next request.
   */
  setStatus(key: string, status: number): void {
    if (status >= 300 && status < 400) return;
    const entry = this.#openRequests.get(key)?.entry ?? this.#failedRequests.get(key);
    if (entry) entry.status ??= status;
    else remember(this.#earlyStatuses, key, status);
  }

  setFromCache(key: string): void {
    const entry = this.#openRequests.get(key)?.entry;
    if (entry) entry.from_cache = true;
  }

  /** Finish a request. Returns its entry if its body is to be recorded. */
  finishRequest(key: string, { timestamp, encodedDataLength }: LoadingFinished): NetworkEntry | null {
    const entry = this.#closeRequest(key, timestamp);
    if (!entry?.response) return null;
    entry.response.bytes = Math.round(encodedDataLength);
    const isText = isTextType(entry.response.mime ?? undefined);
    const recordsBody = this.recordsBodies(entry.url);
    entry.response.omitted_reason = !recordsBody ? 'policy' : isText ? 'unavailable' : 'binary';
    return recordsBody && isText ? entry : null;
  }

  failRequest(key: string, event: LoadingFailed): void {
    const { timestamp, errorText, canceled, blockedReason, corsErrorStatus } = event;
    const entry = this.#closeRequest(key, timestamp);
    if (!entry) return;
    const reasons = [errorText, blockedReason, corsErrorStatus?.corsError].filter(Boolean).join(' ');
    entry.error = canceled ? 'aborted' : reasons.slice(0, 500) || 'failed';
    remember(this.#failedRequests, key, entry);
  }

  addWebSocket(
    key: string,
    workerUrl: string | null,
    url: string,
    { wallTime, timestamp, request }: WebSocketWillSendHandshakeRequest,
  ): void {
    this.addRequest(key, workerUrl, {
      request: { url, method: 'GET', headers: request.headers },
      wallTime,
      timestamp,
      initiator: { url: '' },
      loaderId: '',
      documentURL: '',
    });
    this.#openRequests.get(key)!.entry.type = 'websocket';
  }

  /** Set the error of a web socket; its end is another event. Without a reason it is the handshake's. */
  setWebSocketError(key: string, error: string): void {
    const entry = this.#openRequests.get(key)?.entry;
    if (entry) entry.error ??= error.slice(0, 500) || 'The handshake failed';
  }

  closeWebSocket(key: string, timestamp: number): void {
    this.#closeRequest(key, timestamp);
  }

  /** Drop the entries of the previous page when another one opens in the tab. */
  handleNavigation(loaderId: string): void {
    if (this.#navigation?.loaderId !== loaderId) return;
    const { ts } = this.#navigation;
    const requests = this.#requests.entries.filter((each) => each.ts >= ts);
    this.startedAt = ts;
    this.#requests = new RingBuffer(2_000, 8_000_000);
    for (const each of requests) this.#requests.push(each, 500 + each.url.length);
    this.#console = new RingBuffer(500, 1_000_000);
    this.#errors = new RingBuffer(100, 500_000);
  }

  addConsoleCall(workerUrl: string, { type, args, timestamp, stackTrace }: ConsoleApiCalled): void {
    const texts = args.map((each) => formatRemoteObject(each).slice(0, MAX_TEXT));
    const { last } = this.#console;
    if (last && last.frame === workerUrl && JSON.stringify(last.args) === JSON.stringify(texts)) {
      last.repeat! += 1;
      return;
    }
    const frames = convertFrames(stackTrace);
    const entry: ConsoleEntry = {
      seq: (this.#lastSeq += 1),
      ts: timestamp,
      level: LEVELS[type] ?? 'log',
      args: texts.slice(0, 50),
      stack: formatFrames(frames),
      source: frames[0] ? formatLocation(frames[0]) : null,
      repeat: 1,
      truncated: args.length > 50 || args.some((each) => formatRemoteObject(each).length > MAX_TEXT),
      frame: workerUrl,
      document: 0,
    };
    this.#console.push(entry, texts.join('').length + 200);
  }

  addException(workerUrl: string, { timestamp, exceptionDetails }: ExceptionThrown): void {
    const { exception, text, stackTrace } = exceptionDetails;
    const stack = exception?.description ?? text;
    const [, name = '', message = ''] = /^(?:([\w$]*Error): )?([^\n]*)/.exec(stack) ?? [];
    const frames = convertFrames(stackTrace);
    const source = frames[0] ? formatLocation(frames[0]) : null;
    const entry: ErrorEntry = {
      seq: (this.#lastSeq += 1),
      ts: timestamp,
      kind: text.includes('in promise') ? 'unhandledrejection' : 'error',
      name,
      message: message.slice(0, MAX_TEXT),
      stack: stack.slice(0, 16_384),
      frames,
      source,
      fingerprint: `worker:${name}:${source ?? message}`.slice(0, 128),
      count: 1,
      frame: workerUrl,
      document: 0,
    };
    this.#errors.push(entry, stack.length + message.length);
  }

  #closeRequest(key: string, timestamp: number): NetworkEntry | undefined {
    const open = this.#openRequests.get(key);
    this.#openRequests.delete(key);
    if (open) open.entry.duration_ms = Math.max(0, (timestamp - open.startedAt) * 1000);
    return open?.entry;
  }

  /** The body that a script sends, if it is text. The fields of a form are never read. */
  #readRequestBody({ request, documentURL }: RequestWillBeSent, type: string) {
    const text = request.postData;
    if (text == null) return omitBody(request.hasPostData ? 'unavailable' : null);
    if (!this.recordsBodies(documentURL)) return omitBody('policy', text.length);
    const contentType = request.headers['Content-Type'] ?? '';
    const isForm = type === 'document' || /multipart\/form-data/i.test(contentType);
    return isForm ? omitBody('unavailable', text.length) : truncateBody(text, text.length);
  }
}

/** Add a value, and delete the oldest one beyond the limit. */
function remember<T>(map: Map<string, T>, key: string, value: T): void {
  map.set(key, value);
  if (map.size > MAX_REMEMBERED) map.delete(map.keys().next().value!);
}

function setResponse(entry: NetworkEntry, response: Response): void {
  entry.status = response.status || null;
  entry.status_text = response.statusText;
  entry.from_cache ||= response.fromDiskCache === true || response.fromServiceWorker === true;
  entry.response = {
    headers: convertHeaders(response.headers),
    ...omitBody(),
    mime: response.mimeType || null,
  };
}
