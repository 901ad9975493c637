/** What a capture is made of (docs/use/captures.md); the server's own shapes, as its OpenAPI document has them. */
import type {
  ConsoleEntry,
  Envelope,
  ErrorEntry,
  NetworkEntry,
  Project,
  Redaction,
  StreamHealth,
} from '../../generated/api';

export type {
  ConsoleEntry,
  Envelope,
  ErrorEntry,
  Frame,
  Health,
  NetworkEntry,
  Project,
  Redaction,
  ScreenshotHealth,
  StreamHealth,
} from '../../generated/api';

export type Streams = { console: ConsoleEntry[]; network: NetworkEntry[]; errors: ErrorEntry[] };
export type StreamName = keyof Streams;
export const STREAMS: StreamName[] = ['console', 'network', 'errors'];
export type Reason = NonNullable<StreamHealth['reason']>;
export type Priority = NonNullable<Envelope['priority']>;
export type Policy = Project['capture_policy'];
export type Counts = Required<Redaction>;

/** One frame's record, as the collector hands it over. Nothing is redacted yet. */
export interface Record {
  /** When collecting began; epoch milliseconds. */
  began: number;
  /** Whether the page was there before the collector. */
  late: boolean;
  console: ConsoleEntry[];
  network: NetworkEntry[];
  errors: ErrorEntry[];
  dropped: { [name in StreamName]: number };
}

/** What the relay of one frame answers. */
export interface Told {
  /** Null when the collector isn't running: the page doesn't let it. */
  record: Record | null;
  page: { url: string; title: string; referrer: string | null };
  /** When the document began to arrive; epoch milliseconds. */
  loaded: number;
  environment: NonNullable<Envelope['environment']>;
  /** Frames that stand in this one. */
  frames: number;
}
