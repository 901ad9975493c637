/**
 * What the extension keeps, in an IndexedDB of its own origin: no page and no content script can open that, and it
 * survives the browser.
 */
import type { Input } from '../shared/annotation/marks';
import type { Envelope, Priority, Project, Streams } from './shapes';

export interface Account {
  /** The ticketbox's address, without a trailing slash. */
  address: string;
  name: string;
  email: string;
  /** The secret that is sent; `refresh` and `client` are there when it came by OAuth. */
  secret: string;
  expires: number | null;
  refresh: string | null;
  client: string | null;
}

/** A sign-in under way. */
export interface Pending {
  address: string;
  client: string;
  verifier: string;
  state: string;
  tab: number;
}

/** A capture that is ready to be sent, or waits for that. */
export interface Draft {
  /** Made once: the server takes a capture with the same id only once. */
  id: string;
  envelope: Required<Pick<Envelope, 'page' | 'environment' | 'captured_at' | 'health' | 'redaction'>>;
  /** Where it was taken. */
  tab: number;
  streams: Streams;
  screenshot: Blob | null;
  /** What is drawn on the picture; redactions are in its pixels. */
  marks?: Input[];
  /** What was typed and chosen so far. */
  filled?: { title: string; description: string; project: string; priority: Priority };
}

export interface Queued extends Draft {
  title: string;
  description: string;
  project: string;
  priority: Priority;
  queued: number;
  attempts: number;
  /** When to try again; null when trying again by itself would be in vain. */
  next: number | null;
  problem: string | null;
}

export interface State {
  account: Account;
  pending: Pending;
  projects: Project[];
  /** Match patterns of the sites that are recorded from their first moment on. */
  sites: string[];
  /** The project that a site's last ticket went to. */
  chosen: { [host: string]: string };
}

const VERSION = 1;
const news = new BroadcastChannel('ticketbox');

/** Hear of what other pages of the extension, or its background, changed. */
export function onNews(hear: () => void): void {
  news.addEventListener('message', hear);
}

let opened: Promise<IDBDatabase> | undefined;

function open(): Promise<IDBDatabase> {
  opened ??= new Promise((done, fail) => {
    const request = indexedDB.open('ticketbox', VERSION);
    request.onupgradeneeded = () => {
      request.result.createObjectStore('state');
      request.result.createObjectStore('drafts', { keyPath: 'id' });
      request.result.createObjectStore('queue', { keyPath: 'id' });
    };
    request.onsuccess = () => {
      request.result.onclose = request.result.onversionchange = () => {
        request.result.close();
        opened = undefined;
      };
      done(request.result);
    };
    request.onerror = () => {
      opened = undefined;
      fail(request.error as Error);
    };
  });
  return opened;
}

/** One transaction; it is over when all of it is on the disk, or none. */
async function within<T>(
  store: 'state' | 'drafts' | 'queue',
  mode: IDBTransactionMode,
  work: (store: IDBObjectStore) => IDBRequest<T>,
): Promise<T> {
  const transaction = (await open()).transaction(store, mode, { durability: 'strict' });
  const request = work(transaction.objectStore(store));
  return new Promise((done, fail) => {
    transaction.oncomplete = () => {
      if (mode === 'readwrite') news.postMessage(store);
      done(request.result);
    };
    transaction.onabort = transaction.onerror = () => fail(transaction.error as Error);
  });
}

export const state = {
  get: <K extends keyof State>(key: K): Promise<State[K] | undefined> =>
    within('state', 'readonly', (store) => store.get(key)) as Promise<State[K] | undefined>,
  put: async <K extends keyof State>(key: K, value: State[K]): Promise<void> => {
    await within('state', 'readwrite', (store) => store.put(value, key));
  },
  remove: (key: keyof State): Promise<void> => within('state', 'readwrite', (store) => store.delete(key)),
};

function shelf<T extends { id: string }>(name: 'drafts' | 'queue') {
  return {
    get: (id: string): Promise<T | undefined> => within(name, 'readonly', (store) => store.get(id)),
    all: (): Promise<T[]> => within(name, 'readonly', (store) => store.getAll()),
    count: (): Promise<number> => within(name, 'readonly', (store) => store.count()),
    put: async (value: T): Promise<void> => {
      await within(name, 'readwrite', (store) => store.put(value));
    },
    remove: (id: string): Promise<void> => within(name, 'readwrite', (store) => store.delete(id)),
    clear: (): Promise<void> => within(name, 'readwrite', (store) => store.clear()),
  };
}

/** The capture that is looked at before it is sent. */
export const drafts = shelf<Draft>('drafts');
/** Captures that were sent off, until the server has them. */
export const queue = shelf<Queued>('queue');
