import { apply, now, wrap, wrapConstructor } from '../natives/natives';
import { attempt } from '../natives/restore-natives';
import { createShortError } from '../stack-trace';
import { omitBody, readMessage } from './bodies';
import { captureAddress, ScriptRequest, type RequestLog } from './requests';

const NORMAL_CLOSE_CODES = new Set([1000, 1001, 1005]);
const CLOSED = 2;
const MAX_EVENT = 200;
const addListener = EventTarget.prototype.addEventListener;

/** Start recording WebSocket and EventSource: how each connection opened and ended, and its last messages. */
export function recordSockets(log: RequestLog): void {
  const sockets = new WeakMap<WebSocket, ScriptRequest>();
  /** Follow the events of a type, which the server chooses: nobody can listen to all types. */
  const streams = new WeakMap<EventTarget, (type: string) => void>();
  wrapConstructor('WebSocket', (socket: WebSocket) =>
    attempt(() => {
      const request = addRequest(log, 'websocket', socket.url);
      sockets.set(socket, request);
      listen(socket, 'open', () => (request.status = 101));
      listen(socket, 'message', ({ data }: MessageEvent) => addMessage(request, data, false));
      listen(socket, 'close', ({ code, reason }: CloseEvent) => {
        if (NORMAL_CLOSE_CODES.has(code)) request.endedAt = now();
        else request.fail(`closed with code ${code}${reason && `: ${reason}`}`);
      });
    }),
  );
  wrap(WebSocket.prototype, 'send', (original) => ({
    call(this: WebSocket, ...args: unknown[]) {
      const result = apply(original, this, args as never);
      attempt(() => {
        const request = sockets.get(this);
        if (request) addMessage(request, args[0], true);
      });
      return result;
    },
  }));
  wrap(EventTarget.prototype, 'addEventListener', (original) => ({
    call(this: EventTarget, ...args: unknown[]) {
      const result = apply(original, this, args as never);
      attempt(() => streams.get(this)?.(`${args[0]}`));
      return result;
    },
  }));
  wrapConstructor('EventSource', (source: EventSource) =>
    attempt(() => {
      const request = addRequest(log, 'eventsource', source.url);
      listen(source, 'open', () => ([request.status, request.error] = [200, null]));
      const types = new Set(['open', 'error']);
      const follow = (type: string) => {
        if (types.has(type)) return;
        types.add(type);
        listen(source, type, ({ data }: MessageEvent) => addMessage(request, data, false, type));
      };
      follow('message');
      streams.set(source, follow);
      listen(source, 'error', () => {
        request.error = request.status === null ? 'the event stream failed' : 'the connection was lost';
        if (source.readyState === CLOSED) request.endedAt ??= now();
      });
    }),
  );

  function addMessage(request: ScriptRequest, data: unknown, sent: boolean, event?: string): void {
    const type = event === undefined || event === 'message' ? {} : { event: event.slice(0, MAX_EVENT) };
    request.addMessage({ ts: now(), sent, ...readMessage(data, log.recordsBodies), ...type });
  }
}

function addRequest(log: RequestLog, type: 'websocket' | 'eventsource', url: string): ScriptRequest {
  return log.add(new ScriptRequest(type, 'GET', captureAddress(url), {}, omitBody(), createShortError()));
}

/** Listen to what the browser dispatches, not to what scripts of the page do. */
function listen<E extends Event>(target: EventTarget, type: string, listener: (event: E) => void): void {
  const onEvent = (event: E) => {
    if (event.isTrusted) attempt(() => listener(event));
  };
  apply(addListener, target, [type, onEvent]);
}
