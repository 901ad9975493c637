/** The requests that the browser reports to the extension, whatever the page itself can see of them. */
import type { NetworkEntry } from '../../recorder/capture-types';

export type Redirect = NonNullable<NetworkEntry['redirects']>[number];

/** A request of a tab, redacted: under way, complete or failed. */
export interface ObservedRequest {
  /** The browser's id, which stays the same when it is redirected. */
  id: string;
  /** The origin of the tab's page. */
  page: string | null;
  /** The browser's id of the document that made it, where it has one. */
  document: string | null;
  /** Start and end; epoch milliseconds. */
  ts: number;
  endedAt: number | null;
  method: string;
  /** The address that was requested first. */
  url: string;
  type: string;
  status: number | null;
  statusText: string;
  error: string | null;
  fromCache: boolean;
  redirects: Redirect[];
  initiator: string | null;
}

/** The parts of the browser's events that are used. Firefox names the document, Chromium only its origin. */
export interface RequestEvent {
  requestId: string;
  tabId: number;
  frameId: number;
  documentId?: string;
  documentUrl?: string;
  initiator?: string;
  method: string;
  type: string;
  url: string;
  timeStamp: number;
  statusCode?: number;
  statusLine?: string;
  fromCache?: boolean;
  redirectUrl?: string;
  error?: string;
}
export type EventKind = 'start' | 'redirect' | 'response' | 'end' | 'error';

export interface ObservedTab {
  /** The origin of the page that it shows. */
  page: string | null;
  requests: ObservedRequest[];
}

const MAX_REQUESTS = 2_000;
const MAX_REDIRECTS = 50;
const MAX_URL = 16_384;
/** The tab of requests that belong to none: those of service workers and shared workers. */
export const NO_TAB = -1;

/** Add an event to the requests of its tab, which are changed in place. `redact` removes secrets from a text. */
export function addEvent(
  tab: ObservedTab,
  kind: EventKind,
  event: RequestEvent,
  redact: (text: string) => string,
): void {
  const cleanAddress = (url: string) => redact(url.split('#', 1)[0]!.slice(0, MAX_URL));
  let request = tab.requests.findLast(({ id }) => id === event.requestId);
  if (!request) {
    if (kind !== 'start') return; // it began before the extension observed requests
    const initiator = event.documentUrl ?? event.initiator;
    request = {
      id: event.requestId,
      page: findPage(tab, event),
      document: event.documentId ?? null,
      ts: event.timeStamp,
      endedAt: null,
      method: event.method.slice(0, 32),
      url: cleanAddress(event.url),
      type: event.type,
      status: null,
      statusText: '',
      error: null,
      fromCache: false,
      redirects: [],
      initiator: initiator === undefined ? null : cleanAddress(initiator),
    };
    tab.requests.push(request);
    if (tab.requests.length > MAX_REQUESTS) tab.requests.splice(0, tab.requests.length - MAX_REQUESTS);
  }
  if (kind === 'redirect') {
    if (request.redirects.length < MAX_REDIRECTS)
      request.redirects.push({ status: event.statusCode!, url: cleanAddress(event.redirectUrl ?? '') });
    return;
  }
  if (kind === 'start') return;
  request.status = event.statusCode || request.status;
  request.statusText =
    /^\S+ \d+ (.+)/.exec(event.statusLine ?? '')?.[1]?.slice(0, 4_096) ?? request.statusText;
  request.fromCache ||= event.fromCache === true;
  if (event.type === 'main_frame') tab.page = originOf(event.url) ?? tab.page;
  if (kind === 'response') return;
  request.endedAt = event.timeStamp;
  if (kind === 'error') request.error = event.error?.slice(0, 500) ?? 'failed';
}

/** The origin of the page that a request belongs to; not that of a page which is only just being loaded. */
export function findPage(tab: ObservedTab, event: RequestEvent): string | null {
  if (event.type === 'main_frame') return originOf(event.url);
  const initiator = originOf(event.documentUrl ?? event.initiator ?? '');
  const isOfPage = event.frameId === 0 || event.tabId === NO_TAB;
  return (isOfPage ? initiator : null) ?? tab.page ?? initiator;
}

function originOf(url: string): string | null {
  const { protocol, origin } = URL.parse(url) ?? { protocol: '', origin: '' };
  return /^https?:$/.test(protocol) ? `${origin}/` : null;
}
