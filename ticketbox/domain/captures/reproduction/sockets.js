// @ts-check
/** The recorded messages of WebSockets and event streams, which a run gets in the recorded order. */
import { comparePaths } from './answers.js';

/** @typedef {import('@playwright/test').Route} Route */
/** @typedef {import('@playwright/test').WebSocketRoute} WebSocketRoute */
/**
 * @typedef {{ type: 'send' | 'receive', time: number, data: string, opcode: number, _event?: string, _omittedReason?: string }}
 *   Message
 * @typedef {{ path: string, type: string, messages: Message[], isTaken: boolean, isServed: boolean }} Stream
 */

/** How long a message of the page is waited for that came before one of the server. */
const SENT_MS = 2_000;
/** How long the step is waited for that a message followed. */
const STEP_MS = 30_000;
/** How soon an event stream asks for its next events. */
const AGAIN_MS = 20;

/**
 * The streams of a capture whose messages are complete.
 * @param {any[]} entries Of network.har. @returns {Stream[]}
 */
export function listStreams(entries) {
  return entries
    .filter(
      ({ _resourceType: type, _webSocketMessages: messages = [], request: { url } }) =>
        (type === 'websocket' || type === 'eventsource') &&
        URL.canParse(url) &&
        messages.some(isReceived) &&
        messages.every((/** @type {Message} */ each) => !each._omittedReason),
    )
    .map(({ _resourceType: type, _webSocketMessages: messages, request: { url } }) => ({
      path: new URL(url).pathname,
      type,
      messages,
      isTaken: false,
      isServed: false,
    }));
}

/** @param {Message} message */
function isReceived({ type }) {
  return type === 'receive';
}

/**
 * Serve the recorded messages in a page. Sockets and streams that weren't recorded, or not completely, are connected.
 * @param {import('@playwright/test').Page} page @param {Stream[]} streams
 * @param {(condition: () => boolean, limit: number) => Promise<void>} waitUntil
 * @param {(time: number) => boolean} isDue Whether the run is where the recording was at a time.
 */
export async function serveStreams(page, streams, waitUntil, isDue) {
  const take = (/** @type {string} */ type, /** @type {string} */ url) => {
    const similar = streams.filter(
      (each) => each.type === type && comparePaths(each.path, new URL(url).pathname) !== null,
    );
    const found = similar.find(({ isTaken }) => !isTaken) ?? similar.at(-1);
    if (found) found.isTaken = true;
    return found;
  };
  if (streams.some(({ type }) => type === 'websocket'))
    await page.context().routeWebSocket(/./, async (/** @type {WebSocketRoute} */ socket) => {
      const stream = take('websocket', socket.url());
      if (!stream) return void socket.connectToServer();
      let sent = 0;
      let isOpen = true;
      socket.onMessage(() => void (sent += 1));
      socket.onClose(() => void (isOpen = false));
      let due = 0;
      for (const message of stream.messages) {
        if (message.type === 'send') due += 1;
        else {
          const wanted = due;
          await waitUntil(() => sent >= wanted, SENT_MS);
          await waitUntil(() => isDue(message.time * 1_000) || !isOpen, STEP_MS);
          if (!isOpen) return;
          socket.send(message.data);
        }
      }
      stream.isServed = true;
    });
  /** What is left of each event stream, by address. @type {Map<string, { stream: Stream, left: Message[] }>} */
  const left = new Map();
  await page.context().route(/^https?:/, async (/** @type {Route} */ route) => {
    const request = route.request();
    if (request.resourceType() !== 'eventsource') return route.fallback();
    let open = left.get(request.url());
    const isAgain = open && open.left.length < open.stream.messages.length;
    if (!open || !isAgain) {
      const stream = take('eventsource', request.url());
      if (!stream) return route.fallback();
      open = { stream, left: stream.messages.filter(isReceived) };
      left.set(request.url(), open);
    }
    const [next] = open.left;
    if (!next) return; // the stream stays open
    await waitUntil(() => isDue(next.time * 1_000), STEP_MS);
    const later = open.left.findIndex(({ time }) => !isDue(time * 1_000));
    const events = open.left.splice(0, later < 0 ? open.left.length : Math.max(later, 1));
    if (open.left.length === 0) open.stream.isServed = true;
    const headers = {
      'content-type': 'text/event-stream',
      'access-control-allow-origin': request.headers().origin ?? '*',
      'access-control-allow-credentials': 'true',
    };
    await route.fulfill({ status: 200, headers, body: events.map(writeEvent).join('') }).catch(() => {}); // the page has left
  });
}

/** An event as a server sends it (HTML, 9.2.6). @param {Message} message */
function writeEvent({ data, _event: event }) {
  const name = event ? `event: ${event.replace(/[\r\n]/g, ' ')}\n` : '';
  const lines = data.split('\n').map((line) => `data: ${line}\n`);
  return `retry: ${AGAIN_MS}\n${name}${lines.join('')}\n`;
}
