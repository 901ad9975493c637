/**
 * The requests of recorded tabs that the browser reports, with the optional permission `webRequest`. Secrets are removed
 * before they are kept. They are in the browser's memory, never on disk, because the background may end at any time.
 */
import { Redactor } from '../../recorder/redaction/redactor';
import { OWN_LOAD_MARK } from '../../recorder/channel';
import { ALL_SITES, getRecordedSites, matchesSite } from '../recording/recorded-sites';
import {
  addEvent,
  findPage,
  NO_TAB,
  type EventKind,
  type ObservedRequest,
  type ObservedTab,
  type RequestEvent,
} from './observed-request';

const PREFIX = 'requests-';
const STORE_DELAY_MS = 500;

/** What the browser reported for a tab. */
export interface Observation {
  requests: ObservedRequest[];
  /** The sites whose requests it reports. */
  sites: string[];
}

const tabs = new Map<number, ObservedTab>();
const changedTabs = new Set<number>();
let redactor = new Redactor();
let sites: string[] | null = null;
let loading: Promise<void> | undefined;
let storing: ReturnType<typeof setTimeout> | undefined;
const waiting: [EventKind, RequestEvent][] = [];

/** Keep a request of a recorded site. */
export function handleEvent(kind: EventKind, event: RequestEvent): undefined {
  if (sites === null) {
    waiting.push([kind, event]);
    void loadRequests();
    return;
  }
  if (event.url.endsWith(`#${OWN_LOAD_MARK}`)) return;
  const known = tabs.get(event.tabId);
  const tab = known ?? { page: null, requests: [] };
  const page = findPage(tab, event) ?? '';
  const initiator = event.documentUrl ?? event.initiator ?? '';
  if (!sites.some((site) => matchesSite(site, page) || matchesSite(site, initiator))) return;
  tabs.set(event.tabId, tab);
  addEvent(tab, kind, event, (text) => redactor.redactText(text));
  changedTabs.add(event.tabId);
  storing ??= setTimeout(() => void storeRequests(), STORE_DELAY_MS);
}

/** Read what is stored, once, and the recorded sites; then handle the events that came meanwhile. */
export function loadRequests(): Promise<void> {
  loading ??= (async () => {
    const stored = (await chrome.storage.session.get(null)) as { [key: string]: ObservedTab };
    for (const [key, tab] of Object.entries(stored))
      if (key.startsWith(PREFIX)) tabs.set(Number(key.slice(PREFIX.length)), tab);
    sites = await getRecordedSites();
    for (const [kind, event] of waiting.splice(0)) handleEvent(kind, event);
  })();
  return loading;
}

async function storeRequests(): Promise<void> {
  storing = undefined;
  redactor = new Redactor(); // it keeps the texts that it has seen
  const changed = [...changedTabs].filter((tab) => tabs.has(tab));
  changedTabs.clear();
  for (const tab of changed) {
    const { requests } = tabs.get(tab)!;
    await chrome.storage.session.set({ [PREFIX + tab]: tabs.get(tab) }).catch(() => {
      requests.splice(0, Math.ceil(requests.length / 2)); // the browser has no room for them
    });
    if (!tabs.has(tab)) await chrome.storage.session.remove(PREFIX + tab); // it was closed meanwhile
  }
}

/** What the browser reported for a tab, as far as it may be in a capture of its page; null if it reports nothing. */
export async function readRequests(tab: number, pageUrl: string): Promise<Observation | null> {
  const { webRequest } = chrome as Partial<typeof chrome>;
  if (!webRequest) return null;
  await loadRequests();
  const chosen = sites!.filter((site) => site !== ALL_SITES);
  const { hostname, origin } = URL.parse(pageUrl) ?? { hostname: '', origin: '' };
  const accepts = ({ page }: ObservedRequest) =>
    page !== null &&
    (URL.parse(page)?.hostname === hostname || chosen.some((site) => matchesSite(site, page)));
  const requests = [
    ...(tabs.get(tab)?.requests ?? []).filter(accepts),
    ...(tabs.get(NO_TAB)?.requests ?? []).filter(({ page }) => page === `${origin}/`),
  ];
  return { requests, sites: sites! };
}

export async function eraseRequests(tab: number): Promise<void> {
  tabs.delete(tab);
  await chrome.storage.session.remove(PREFIX + tab);
}

/** Use the sites that are recorded now, and erase the requests of pages of others. */
export async function updateObservedSites(): Promise<void> {
  await loadRequests();
  sites = await getRecordedSites();
  for (const [tab, observed] of tabs) {
    const recorded = observed.requests.filter(({ page, initiator }) =>
      sites!.some((site) => matchesSite(site, page ?? '') || matchesSite(site, initiator ?? '')),
    );
    if (recorded.length === observed.requests.length) continue;
    observed.requests = recorded;
    await chrome.storage.session.set({ [PREFIX + tab]: observed });
  }
}
