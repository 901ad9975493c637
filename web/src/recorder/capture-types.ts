/** The parts of a capture (docs/use/captures.md): the server's types from its OpenAPI document, and what a page records. */
import type {
  ConsoleEntry,
  Environment,
  Envelope,
  ErrorEntry,
  NetworkEntry,
  Project,
  Redaction,
  SentExpectation,
  Step,
  StreamHealth,
} from '../../generated/api';

export type {
  ActionTarget,
  ConsoleEntry,
  Envelope,
  Environment,
  ErrorEntry,
  FieldRules,
  Frame,
  Health,
  NetworkEntry,
  Project,
  Redaction,
  ScreenshotHealth,
  StreamHealth,
} from '../../generated/api';

/** What a person says is wrong on a page. */
export type Expectation = Partial<SentExpectation> & Pick<SentExpectation, 'is'>;
export type ActionEntry = Omit<Step, 'number' | 'words'>;
export type Trait = NonNullable<ActionEntry['traits']>[number];
export type Streams = {
  console: ConsoleEntry[];
  network: NetworkEntry[];
  errors: ErrorEntry[];
  actions: ActionEntry[];
};
export type StreamName = keyof Streams;
export const STREAMS: StreamName[] = ['console', 'network', 'errors', 'actions'];
export type HealthReason = NonNullable<StreamHealth['reason']>;
export type Priority = NonNullable<Envelope['priority']>;
export type CapturePolicy = Project['capture_policy'];
export type RedactionCounts = Required<Redaction>;
export type PageFacts = { url: string; title: string; referrer: string | null };

/** What the recorder has of one frame in the page's JavaScript world, not redacted. */
export type PageRecord = Omit<FrameRecord, 'actions' | 'dropped' | 'unreadable'> & {
  /** Native dialogs and their answers. */
  dialogs: ActionEntry[];
  unreadable: { [name in Exclude<StreamName, 'actions'>]: number };
  dropped: Omit<FrameRecord['dropped'], 'actions'>;
};

/** Everything that is recorded of one frame, not redacted. */
export interface FrameRecord {
  /** When recording started; epoch milliseconds. */
  startedAt: number;
  /** Whether the document had loaded before the recorder started. */
  startedLate: boolean;
  /** How the document was opened; null if the browser doesn't know. */
  arrival: { type: NavigationTimingType; redirects: number } | null;
  console: ConsoleEntry[];
  network: NetworkEntry[];
  errors: ErrorEntry[];
  actions: ActionEntry[];
  /** How many entries of each stream were dropped to stay within the limits. */
  dropped: { [name in StreamName]: number };
  /** How many entries of each stream couldn't be recorded. */
  unreadable?: { [name in StreamName]?: number };
}

/** Which entries are read of a record. */
export interface ReadOptions {
  /** Only those since this time; epoch milliseconds. */
  since: number;
  /** Only this number of each stream, the newest. */
  limit: number;
}

/** A frame's record with the facts about its page. */
export interface FrameReport {
  /** The id of the document, which it has until it is closed. */
  document: string;
  /** Whether another document of the site was in the tab before. */
  hasPredecessor: boolean;
  /** Null when the recorder isn't running because the page's policy blocks it. */
  record: FrameRecord | null;
  page: PageFacts;
  /** When the first byte of the document arrived; epoch milliseconds. */
  loadedAt: number;
  environment: Environment;
  /** The number of direct child frames. */
  childFrames: number;
}
