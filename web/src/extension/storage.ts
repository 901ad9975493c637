/**
 * The extension's data, in an IndexedDB database of the extension's origin, which no page and no content script can
 * open. It survives restarts and updates, so a stored field can't simply be renamed.
 */
import type { Failure } from '../../generated/api';
import type {
  Envelope,
  Expectation,
  Priority,
  Project,
  StreamName,
  Streams,
} from '../recorder/capture-types';
import type { PointedElement } from '../recorder/pointing/point';
import type { Input } from '../shared/annotation/marks';

export interface Account {
  /** The ticketbox's URL, without a trailing slash. */
  address: string;
  name: string;
  email: string;
  /** The access token or API token that is sent. */
  secret: string;
  /** When the access token expires, in epoch milliseconds; null for an API token, as are the next two. */
  expires: number | null;
  refresh: string | null;
  client: string | null;
  /** What the token may do. */
  scopes: string[];
}

/** A sign-in that was started and not yet finished. */
export interface PendingSignIn {
  address: string;
  client: string;
  verifier: string;
  state: string;
  tab: number;
  /** The id of the extension's tab where it was started. */
  page?: number;
}

/** The fields of the report form. */
export interface ReportFields {
  title: string;
  /** The steps to reproduce, one line each. */
  steps: string[];
  description: string;
  project: string;
  priority: Priority;
  /** The id of the member to assign; empty for none. */
  assignee: string;
}

export const EMPTY_FIELDS: ReportFields = {
  title: '',
  steps: [],
  description: '',
  project: '',
  priority: 'none',
  assignee: '',
};

/** What a person can leave out of a report: a stream, or another part. */
export type Part = StreamName | 'replay' | 'screenshot' | 'earlier' | 'environment' | 'source_maps';

/** The ticket that a capture is added to, instead of a new one. */
export interface ExistingTicket {
  id: string;
  key: string;
  /** Whether it was resolved: the bug is back, so it is reopened. */
  resolved: boolean;
}

/** A site whose pages become pages of a project as soon as they are recorded. */
export interface NewSite {
  /** Scheme, host and port. */
  origin: string;
  /** The project's id. */
  project: string;
  /** Why they didn't. */
  problem?: string;
}

/** How many seconds of a page a replay keeps, by the person's setting. */
export type ReplaySeconds = 0 | 30 | 60 | 120;

/** The replay of a capture, as it is sent. */
export interface DraftReplay {
  /** JSON, compressed with gzip. */
  data: Blob;
  seconds: number;
}

/** A capture that its user is reviewing. */
export interface Draft {
  /** The server accepts a capture with this id only once. */
  id: string;
  envelope: Required<Pick<Envelope, 'page' | 'environment' | 'captured_at' | 'health' | 'redaction'>>;
  /** The id of the captured tab. */
  tab: number;
  streams: Streams;
  /** The failure that the person chose; missing while they aren't sure. */
  bug?: Failure;
  /** What the person pointed at. */
  expectations?: Expectation[];
  /** The ids of the requests whose answers keep their numbers, because the person agreed to it. */
  keptNumbers?: string[];
  /** Whether the popup let them point in the page: nothing else may answer. */
  isPointing?: boolean;
  /** What they pointed at last, until the popup has added it. */
  pointed?: PointedElement;
  /** How many earlier documents of the tab the streams begin with. */
  earlierPages?: number;
  /** Missing if nothing was recorded, or the person removed it. */
  replay?: DraftReplay;
  screenshot: Blob | null;
  /** Annotations on the screenshot, except redactions, which are drawn into its pixels. */
  marks?: Input[];
  /** The parts that aren't sent. Until the report is sent, the person can change their mind. */
  excluded?: Part[];
  /** The form as the user left it; missing if nothing was entered. */
  filled?: ReportFields;
  /**
   * Whether only what the user entered is kept, and the page is captured again: they loaded it again to reproduce the
   * bug, or closed the popup before the capture was complete.
   */
  isOutdated?: boolean;
}

/** The ticket of a capture that was sent, and how large the capture was. */
export interface SentCapture {
  ticketId: string;
  url: string;
  bytes: number;
  /** What the server refused of it, although there is a ticket. */
  note?: string;
}

/** The ticket, or why there is none. */
export type SendResult =
  | SentCapture
  | {
      problem: string;
      /** Whether the capture is sent again later. */
      willRetry: boolean;
      /** Whether the server doesn't accept the token any more. */
      isSignedOut?: boolean;
    };

/** A capture in the outbox. */
export interface QueuedCapture extends Draft, Omit<ReportFields, 'steps'> {
  existing?: ExistingTicket;
  /** When it was added; epoch milliseconds. */
  queued: number;
  attempts: number;
  /** When to retry; null if only the user can fix the problem. */
  next: number | null;
  problem: string | null;
}

export interface AppState {
  account: Account;
  pending: PendingSignIn;
  projects: Project[];
  /** Match patterns of the sites that are recorded from page load. */
  sites: string[];
  /** The last site that a person chose to record. */
  newSite: NewSite;
  /** How many seconds of a page replays show; 0 for none, missing for the default. */
  replaySeconds: ReplaySeconds;
  /** The project of the last report, by host. */
  chosen: { [host: string]: string };
}

type StoreName = 'state' | 'drafts' | 'queue';

const VERSION = 1;
const changes = new BroadcastChannel('ticketbox');

/** Call a function when another page of the extension, or its background, changes stored data. */
export function onStorageChange(listener: () => void): void {
  changes.addEventListener('message', listener);
}

let database: Promise<IDBDatabase> | undefined;

function openDatabase(): Promise<IDBDatabase> {
  database ??= new Promise((resolve, reject) => {
    const request = indexedDB.open('ticketbox', VERSION);
    request.onupgradeneeded = () => {
      request.result.createObjectStore('state');
      request.result.createObjectStore('drafts', { keyPath: 'id' });
      request.result.createObjectStore('queue', { keyPath: 'id' });
    };
    request.onsuccess = () => {
      request.result.onclose = request.result.onversionchange = () => {
        request.result.close();
        database = undefined;
      };
      resolve(request.result);
    };
    request.onerror = () => {
      database = undefined;
      reject(request.error as Error);
    };
  });
  return database;
}

/** Run one request in its own transaction, and wait until that is on disk. */
async function runTransaction<T>(
  storeName: StoreName,
  mode: IDBTransactionMode,
  createRequest: (store: IDBObjectStore) => IDBRequest<T>,
): Promise<T> {
  const transaction = (await openDatabase()).transaction(storeName, mode, { durability: 'strict' });
  const request = createRequest(transaction.objectStore(storeName));
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => {
      if (mode === 'readwrite') changes.postMessage(storeName);
      resolve(request.result);
    };
    transaction.onabort = transaction.onerror = () => reject(transaction.error as Error);
  });
}

export const appState = {
  get: <K extends keyof AppState>(key: K): Promise<AppState[K] | undefined> =>
    runTransaction('state', 'readonly', (store) => store.get(key)) as Promise<AppState[K] | undefined>,
  put: async <K extends keyof AppState>(key: K, value: AppState[K]): Promise<void> => {
    await runTransaction('state', 'readwrite', (store) => store.put(value, key));
  },
  remove: (key: keyof AppState): Promise<void> =>
    runTransaction('state', 'readwrite', (store) => store.delete(key)),
};

function createRecordStore<T extends { id: string }>(name: 'drafts' | 'queue') {
  return {
    get: (id: string): Promise<T | undefined> => runTransaction(name, 'readonly', (store) => store.get(id)),
    getAll: (): Promise<T[]> => runTransaction(name, 'readonly', (store) => store.getAll()),
    count: (): Promise<number> => runTransaction(name, 'readonly', (store) => store.count()),
    put: async (value: T): Promise<void> => {
      await runTransaction(name, 'readwrite', (store) => store.put(value));
    },
    remove: (id: string): Promise<void> => runTransaction(name, 'readwrite', (store) => store.delete(id)),
    clear: (): Promise<void> => runTransaction(name, 'readwrite', (store) => store.clear()),
  };
}

/** At most one: the capture in the popup or the editor. A new one replaces it, also if the popup closes meanwhile. */
export const drafts = {
  ...createRecordStore<Draft>('drafts'),
  put: async (value: Draft): Promise<void> => {
    await runTransaction('drafts', 'readwrite', (store) => (store.clear(), store.put(value)));
  },
};
/** Captures that the server doesn't have yet. */
export const outbox = createRecordStore<QueuedCapture>('queue');
