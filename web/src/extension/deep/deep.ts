/**
 * Deep recording: the browser's debugger listens to one tab, as long as its person wants that.
 *
 * Only the deep edition may do this (docs/decisions/0010-a-deep-edition.md). It ends with the tab, with the ticket,
 * from the popup, and by Cancel in the browser's own bar.
 */
import { debug, isDeepEdition } from '../chromium';
import type { Record } from '../shapes';
import { wantsBodies } from '../sites';
import { cut, Log } from './log';
import type { Call, Failed, Finished, Received, Request, Response, Socket, Thrown } from './protocol';

type Source = chrome.debugger.DebuggerSession;

interface Listened {
  log: Log;
  /** The workers that are listened to, by their sessions: their addresses. */
  workers: Map<string, string>;
  sockets: Map<string, string>;
}

const tabs = new Map<number, Listened>();
/** Settles when the tabs that were left attached are let go. */
let free = Promise.resolve();

/** Begin or end to listen to a tab. Raises Error in the browser's words. */
export async function switchDeep(tab: number, on: boolean): Promise<void> {
  if (!on) return endDeep(tab);
  await free;
  if (tabs.has(tab)) return;
  await debug.attach({ tabId: tab }, '1.3');
  try {
    const target = { tabId: tab };
    const tree = (await debug.sendCommand(target, 'Page.getFrameTree')) as {
      frameTree: { frame: { id: string } };
    };
    const log = new Log(tree.frameTree.frame.id, await wantsBodies());
    tabs.set(tab, { log, workers: new Map(), sockets: new Map() });
    await debug.sendCommand(target, 'Page.enable');
    await listen(target);
  } catch (error) {
    await endDeep(tab);
    throw error;
  }
}

/** Let go of a tab, if anybody listens to it. */
export async function endDeep(tab: number): Promise<void> {
  if (!isDeepEdition()) return;
  tabs.delete(tab);
  await debug.detach({ tabId: tab }).catch(() => {
    // its person ended it from the browser's bar, or closed the tab, or never began
  });
}

/** What was heard in a tab; null where nobody listens. */
export function deepRecord(tab: number): Record | null {
  return tabs.get(tab)?.log.record() ?? null;
}

/** Wait for what happens, and let go of what was left attached when the background ended last time. */
export async function awaitEvents(): Promise<void> {
  if (!isDeepEdition()) return;
  debug.onEvent.addListener((source, method, params) => hear(source, method, params ?? {}));
  debug.onDetach.addListener(({ tabId }) => void tabs.delete(tabId!));
  await (free = letGo());
}

async function letGo(): Promise<void> {
  for (const { attached, tabId } of await debug.getTargets())
    if (attached && tabId !== undefined && !tabs.has(tabId)) await endDeep(tabId);
}

/** Have a page, a frame or a worker tell of itself, and of those that it starts. */
async function listen(target: Source): Promise<void> {
  const auto = { autoAttach: true, waitForDebuggerOnStart: true, flatten: true };
  const commands: [string, object][] = [
    ['Network.enable', { maxPostDataSize: 65_536 }],
    ['Target.setAutoAttach', auto],
  ];
  if (target.sessionId) commands.push(['Runtime.enable', {}], ['Runtime.runIfWaitingForDebugger', {}]);
  // a service worker that waits may answer only when it goes on, and not every kind of worker has every domain
  await Promise.allSettled(commands.map(([method, params]) => debug.sendCommand(target, method, params)));
}

function hear(source: Source, method: string, params: object): void {
  const listened = tabs.get(source.tabId!);
  if (!listened) return;
  const { log, workers, sockets } = listened;
  const worker = workers.get(source.sessionId ?? '') ?? null;
  const key = `${source.sessionId ?? ''}/${(params as { requestId?: string }).requestId ?? ''}`;
  switch (method) {
    case 'Target.attachedToTarget': {
      const { sessionId, targetInfo } = params as {
        sessionId: string;
        targetInfo: { type: string; url: string };
      };
      if (targetInfo.type !== 'iframe') workers.set(sessionId, targetInfo.url);
      void listen({ tabId: source.tabId!, sessionId });
      break;
    }
    case 'Page.frameNavigated': {
      const { frame } = params as { frame: { parentId?: string; loaderId: string } };
      if (!frame.parentId && !source.sessionId) log.moved(frame.loaderId);
      break;
    }
    case 'Network.requestWillBeSent':
      log.sent(key, worker, params as Request);
      break;
    case 'Network.responseReceived':
      log.received(key, params as Received);
      break;
    case 'Network.responseReceivedExtraInfo':
      log.status(key, (params as { statusCode: number }).statusCode);
      break;
    case 'Network.requestServedFromCache':
      log.cached(key);
      break;
    case 'Network.loadingFinished':
      void finish(source, log, key, params as Finished & { requestId: string });
      break;
    case 'Network.loadingFailed':
      log.failed(key, params as Failed);
      break;
    case 'Network.webSocketCreated':
      sockets.set(key, (params as { url: string }).url);
      break;
    case 'Network.webSocketWillSendHandshakeRequest':
      log.opened(key, worker, sockets.get(key) ?? '', params as Socket);
      break;
    case 'Network.webSocketHandshakeResponseReceived':
      log.received(key, params as { response: Response });
      break;
    case 'Network.webSocketFrameError':
      log.broken(key, (params as { errorMessage: string }).errorMessage);
      break;
    case 'Network.webSocketClosed':
      sockets.delete(key);
      log.closed(key, (params as { timestamp: number }).timestamp);
      break;
    case 'Runtime.consoleAPICalled':
      if (worker !== null) log.said(worker, params as Call);
      break;
    case 'Runtime.exceptionThrown':
      if (worker !== null) log.threw(worker, params as Thrown);
      break;
  }
}

async function finish(
  target: Source,
  log: Log,
  key: string,
  event: Finished & { requestId: string },
): Promise<void> {
  const entry = log.finished(key, event);
  if (!entry?.response) return;
  const { requestId } = event;
  const found = (await debug
    .sendCommand(target, 'Network.getResponseBody', { requestId })
    .catch(() => null)) as { body: string; base64Encoded: boolean } | null;
  if (found && !found.base64Encoded)
    entry.response = { ...entry.response, ...cut(found.body), bytes: entry.response.bytes };
}
