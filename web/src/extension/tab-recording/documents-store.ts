/**
 * The documents of recorded tabs that were left, until the tab is closed. They are in the browser's memory, never on
 * disk, because the background may end at any time.
 */
import { STREAMS } from '../../recorder/capture-types';
import { Redactor } from '../../recorder/redaction/redactor';
import { ALL_SITES, getRecordedSites, matchesSite } from '../recording/recorded-sites';
import { compressJson, decompressJson } from './compression';
import { parseRecord, type HandOver } from './hand-over';
import { findCutoff, limitDocuments, type KeptDocuments, type KeptRecord } from './kept-document';
import { resolveMethod } from './document-method';
import { joinRecords, removeKeptEntries, selectDocuments, type TabHistory } from './tab-history';

const PREFIX = 'tab-';
const NONE: KeptDocuments = { documents: [], lostUntil: 0 };
/** The current operation: one after the other, so that none overwrites what another has added. */
let queue: Promise<unknown> = Promise.resolve();

function enqueue<T>(work: () => Promise<T>): Promise<T> {
  const result = queue.then(work);
  queue = result.catch(() => {});
  return result;
}

/** Keep the tail of a document of a recorded site. Secrets are redacted before it is kept. */
export function keepDocument(handOver: HandOver, sender: chrome.runtime.MessageSender): Promise<void> {
  return enqueue(async () => {
    const { tab, origin, url = '' } = sender;
    const isTop = handOver.isTop === true;
    const address = URL.parse(url)?.host ? url : (origin ?? ''); // a frame without an address has its page's origin
    const sites = await getRecordedSites();
    if (tab?.id === undefined || !sites.some((site) => matchesSite(site, address))) return;
    const record = parseRecord(handOver);
    const kept = await load(tab.id);
    const last = kept.documents.findLast((each) => each.isTop);
    if (isTop && handOver.hasPredecessor) resolveMethod(record, last?.next);
    for (const { id, leftAt } of kept.documents)
      if (id === handOver.document) removeKeptEntries(record, leftAt);
    if (!isTop) for (const name of STREAMS) for (const entry of record[name]) entry.frame = url;
    const redactor = new Redactor();
    redactor.redactStreams(record);
    kept.documents.push({
      id: handOver.document,
      isTop,
      url: redactor.redactText(address),
      startedAt: record.startedAt,
      leftAt: handOver.leftAt,
      requests: record.network.length,
      next: handOver.next,
      data: await compressJson({
        record,
        redaction: redactor.counts,
        stored: isTop && handOver.stored ? redactor.redactStored(handOver.stored) : null,
      } satisfies KeptRecord),
    });
    await store(tab.id, limitDocuments(kept));
  });
}

/** What happened in a tab before its current page, as far as it may be in a capture of that page. */
export function readTabHistory(tab: number, pageUrl: string): Promise<TabHistory> {
  return enqueue(async () => {
    const sites = (await getRecordedSites()).filter((site) => site !== ALL_SITES);
    const kept = await load(tab);
    const documents = selectDocuments(kept.documents, pageUrl, (url) =>
      sites.some((site) => matchesSite(site, url)),
    );
    const records = await Promise.all(documents.map(({ data }) => decompressJson(data)));
    return joinRecords({ ...kept, documents }, records as KeptRecord[], pageUrl);
  });
}

export function eraseTab(tab: number): Promise<void> {
  return enqueue(() => chrome.storage.session.remove(PREFIX + tab));
}

/** Erase the documents of sites that are no longer recorded. */
export function eraseUnrecordedSites(): Promise<void> {
  return enqueue(async () => {
    const sites = await getRecordedSites();
    const tabs = await loadAll();
    for (const [key, { documents, lostUntil }] of Object.entries(tabs)) {
      const recorded = documents.filter(({ url }) => sites.some((site) => matchesSite(site, url)));
      if (recorded.length < documents.length)
        await chrome.storage.session.set({ [key]: { documents: recorded, lostUntil } });
    }
  });
}

async function load(tab: number): Promise<KeptDocuments> {
  const key = PREFIX + tab;
  return ((await chrome.storage.session.get(key))[key] as KeptDocuments | undefined) ?? structuredClone(NONE);
}

/** The documents of all tabs, by key. */
async function loadAll(): Promise<{ [key: string]: KeptDocuments }> {
  const stored = Object.entries(await chrome.storage.session.get<{ [key: string]: KeptDocuments }>(null));
  return Object.fromEntries(stored.filter(([key]) => key.startsWith(PREFIX)));
}

/** Store a tab's documents. If the browser has no room for them, those of other tabs are erased, oldest first. */
async function store(tab: number, kept: KeptDocuments): Promise<void> {
  const key = PREFIX + tab;
  for (;;) {
    try {
      return await chrome.storage.session.set({ [key]: kept });
    } catch {
      const tabs = await loadAll();
      const [oldest] = Object.keys(tabs)
        .filter((each) => each !== key)
        .sort((a, b) => findCutoff(tabs[a]!.documents) - findCutoff(tabs[b]!.documents));
      await chrome.storage.session.remove(oldest ?? key);
      if (oldest === undefined) return;
    }
  }
}
