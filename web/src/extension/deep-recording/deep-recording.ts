/**
 * Deep recording: the browser's debugger records one tab until the user stops it.
 *
 * Only the deep edition can do this (docs/decisions/0010-a-deep-edition.md). It stops when the user stops it in the
 * popup or with Cancel in the browser's bar, creates the ticket or closes the tab.
 */
import type { FrameRecord } from '../../recorder/capture-types';
import { truncateBody } from '../../recorder/network/bodies';
import { chromiumDebugger, isDeepEdition } from '../chromium';
import { createBodyFilter } from '../recording/body-sites';
import { DebuggerLog } from './debugger-log';
import type {
  ConsoleApiCalled,
  ExceptionThrown,
  LoadingFailed,
  LoadingFinished,
  RequestWillBeSent,
  ResponseReceived,
  WebSocketWillSendHandshakeRequest,
} from './devtools-protocol';

type Session = chrome.debugger.DebuggerSession;

interface RecordedTab {
  log: DebuggerLog;
  /** The URLs of the tab's workers, by session. */
  workers: Map<string, string>;
  /** The URLs of the tab's web sockets, by request. */
  webSockets: Map<string, string>;
}

const recordedTabs = new Map<number, RecordedTab>();
/** Resolves when the tabs that were left attached are detached. */
let detachedLeftovers = Promise.resolve();

/** Start or stop recording a tab. Raises Error with the browser's message. */
export async function switchDeepRecording(tab: number, on: boolean): Promise<void> {
  if (!on) return stopDeepRecording(tab);
  await detachedLeftovers;
  if (recordedTabs.has(tab)) return;
  await chromiumDebugger.attach({ tabId: tab }, '1.3');
  try {
    const session = { tabId: tab };
    const tree = (await chromiumDebugger.sendCommand(session, 'Page.getFrameTree')) as {
      frameTree: { frame: { id: string } };
    };
    const log = new DebuggerLog(tree.frameTree.frame.id, await createBodyFilter());
    recordedTabs.set(tab, { log, workers: new Map(), webSockets: new Map() });
    await chromiumDebugger.sendCommand(session, 'Page.enable');
    await enableEvents(session);
  } catch (error) {
    await stopDeepRecording(tab);
    throw error;
  }
}

/** Stop recording a tab; does nothing if it isn't recorded. */
export async function stopDeepRecording(tab: number): Promise<void> {
  if (!isDeepEdition()) return;
  recordedTabs.delete(tab);
  await chromiumDebugger.detach({ tabId: tab }).catch(() => {
    // it wasn't attached, or the user stopped it in the browser's bar or closed the tab
  });
}

/** The record of a tab; null if it isn't recorded. */
export function readDeepRecord(tab: number): FrameRecord | null {
  return recordedTabs.get(tab)?.log.toRecord() ?? null;
}

/** Listen to the debugger's events, and detach the tabs that were attached when the background last ended. */
export async function listenToDebugger(): Promise<void> {
  if (!isDeepEdition()) return;
  chromiumDebugger.onEvent.addListener((session, method, params) =>
    handleEvent(session, method, params ?? {}),
  );
  chromiumDebugger.onDetach.addListener(({ tabId }) => void recordedTabs.delete(tabId!));
  await (detachedLeftovers = detachLeftovers());
}

async function detachLeftovers(): Promise<void> {
  for (const { attached, tabId } of await chromiumDebugger.getTargets())
    if (attached && tabId !== undefined && !recordedTabs.has(tabId)) await stopDeepRecording(tabId);
}

/** Enable the events of a page, a frame or a worker, and of those that it starts. */
async function enableEvents(session: Session): Promise<void> {
  const autoAttach = { autoAttach: true, waitForDebuggerOnStart: true, flatten: true };
  const commands: [string, object][] = [
    ['Network.enable', { maxPostDataSize: 65_536 }],
    ['Target.setAutoAttach', autoAttach],
  ];
  if (session.sessionId) commands.push(['Runtime.enable', {}], ['Runtime.runIfWaitingForDebugger', {}]);
  // a service worker that waits may answer only after it continues, and not every worker supports every domain
  await Promise.allSettled(
    commands.map(([method, params]) => chromiumDebugger.sendCommand(session, method, params)),
  );
}

function handleEvent(session: Session, method: string, params: object): void {
  const recorded = recordedTabs.get(session.tabId!);
  if (!recorded) return;
  const { log, workers, webSockets } = recorded;
  const workerUrl = workers.get(session.sessionId ?? '') ?? null;
  const key = `${session.sessionId ?? ''}/${(params as { requestId?: string }).requestId ?? ''}`;
  switch (method) {
    case 'Target.attachedToTarget': {
      const { sessionId, targetInfo } = params as {
        sessionId: string;
        targetInfo: { type: string; url: string };
      };
      if (targetInfo.type !== 'iframe') workers.set(sessionId, targetInfo.url);
      void enableEvents({ tabId: session.tabId!, sessionId });
      break;
    }
    case 'Page.frameNavigated': {
      const { frame } = params as { frame: { parentId?: string; loaderId: string } };
      if (!frame.parentId && !session.sessionId) log.handleNavigation(frame.loaderId);
      break;
    }
    case 'Network.requestWillBeSent':
      log.addRequest(key, workerUrl, params as RequestWillBeSent);
      break;
    case 'Network.responseReceived':
    case 'Network.webSocketHandshakeResponseReceived':
      log.addResponse(key, params as ResponseReceived);
      break;
    case 'Network.responseReceivedExtraInfo':
      log.setStatus(key, (params as { statusCode: number }).statusCode);
      break;
    case 'Network.requestServedFromCache':
      log.setFromCache(key);
      break;
    case 'Network.loadingFinished':
      void finishRequest(session, log, key, params as LoadingFinished & { requestId: string });
      break;
    case 'Network.loadingFailed':
      log.failRequest(key, params as LoadingFailed);
      break;
    case 'Network.webSocketCreated':
      webSockets.set(key, (params as { url: string }).url);
      break;
    case 'Network.webSocketWillSendHandshakeRequest': {
      const url = webSockets.get(key) ?? '';
      log.addWebSocket(key, workerUrl, url, params as WebSocketWillSendHandshakeRequest);
      break;
    }
    case 'Network.webSocketFrameError':
      log.setWebSocketError(key, (params as { errorMessage: string }).errorMessage);
      break;
    case 'Network.webSocketClosed':
      webSockets.delete(key);
      log.closeWebSocket(key, (params as { timestamp: number }).timestamp);
      break;
    case 'Runtime.consoleAPICalled':
      if (workerUrl !== null) log.addConsoleCall(workerUrl, params as ConsoleApiCalled);
      break;
    case 'Runtime.exceptionThrown':
      if (workerUrl !== null) log.addException(workerUrl, params as ExceptionThrown);
      break;
  }
}

/** Finish a request, and read its body if that is to be recorded. */
async function finishRequest(
  session: Session,
  log: DebuggerLog,
  key: string,
  event: LoadingFinished & { requestId: string },
): Promise<void> {
  const entry = log.finishRequest(key, event);
  if (!entry?.response) return;
  const { requestId } = event;
  const result = (await chromiumDebugger
    .sendCommand(session, 'Network.getResponseBody', { requestId })
    .catch(() => null)) as { body: string; base64Encoded: boolean } | null;
  if (result && !result.base64Encoded)
    entry.response = { ...entry.response, ...truncateBody(result.body), bytes: entry.response.bytes };
}
