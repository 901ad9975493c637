import { ALL_SITES } from '../recording/recorded-sites';
import type { RequestEvent } from './observed-request';
import { handleEvent, loadRequests } from './requests-store';

/** Handshakes of WebSockets, also those that workers open; Chromium's pattern of all sites leaves them out. */
const SOCKETS = ['ws://*/*', 'wss://*/*'];

const handlers = {
  start: (event: RequestEvent) => handleEvent('start', event),
  redirect: (event: RequestEvent) => handleEvent('redirect', event),
  response: (event: RequestEvent) => handleEvent('response', event),
  end: (event: RequestEvent) => handleEvent('end', event),
  error: (event: RequestEvent) => handleEvent('error', event),
} as const;

/** Listen to the browser's requests, if that is allowed. Can be called again after it was. */
export function listenToRequests(): void {
  const { webRequest } = chrome as Partial<typeof chrome>;
  if (!webRequest || webRequest.onCompleted.hasListener(handlers.end)) return;
  const filter = { urls: [ALL_SITES, ...SOCKETS] };
  // Chromium reports preflights only with this option, which Firefox doesn't have
  const extra = 'EXTRA_HEADERS' in (webRequest.OnBeforeRequestOptions ?? {}) ? ['extraHeaders' as const] : [];
  webRequest.onBeforeRequest.addListener(handlers.start, filter, extra);
  webRequest.onBeforeRedirect.addListener(handlers.redirect, filter, extra);
  webRequest.onResponseStarted.addListener(handlers.response, filter, extra);
  webRequest.onCompleted.addListener(handlers.end, filter, extra);
  webRequest.onErrorOccurred.addListener(handlers.error, filter, extra);
  void loadRequests();
}
