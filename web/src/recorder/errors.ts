import type { ErrorEntry, ReadOptions } from './capture-types';
import { formatArguments, formatCauses } from './console/console-format';
import { addLastingListener } from './natives/lasting-listeners';
import { now, toJson } from './natives/natives';
import { RingBuffer } from './ring-buffer';
import type { Sequence } from './sequence';
import { attempt } from './natives/restore-natives';
import { formatLocation, parseStack, readStack, removeRecorderFrames } from './stack-trace';

type ErrorDetails = Pick<ErrorEntry, 'kind' | 'message'> & Partial<ErrorEntry>;

export interface ErrorLog {
  read: (options: ReadOptions) => { entries: ErrorEntry[]; dropped: number; unreadable: number };
  /** The addresses of the elements that failed to load. */
  failedResources: Set<string>;
}

/** Start recording uncaught errors, unhandled rejections, resources that fail to load and policy violations. */
export function recordErrors(sequence: Sequence): ErrorLog {
  const buffer = new RingBuffer<ErrorEntry>(500, 1_000_000);
  const entriesByOrigin = new Map<string, ErrorEntry>();
  const failedResources = new Set<string>();

  const add = (details: ErrorDetails) => {
    const { kind, name = '', message, frames = [], source = null } = details;
    const origin = toJson([kind, name, message, frames[0] ?? source]);
    const previous = entriesByOrigin.get(origin);
    if (previous) {
      previous.count! += 1;
      return;
    }
    const entry: ErrorEntry = {
      seq: sequence.next(),
      ts: now(),
      stack: null,
      frames: [],
      source: null,
      name: '',
      ...details,
      message: message.slice(0, 8_192),
      fingerprint: hash(origin),
      count: 1,
      frame: null,
      document: 0,
    };
    if (entriesByOrigin.size < 1_000) entriesByOrigin.set(origin, entry);
    buffer.push(entry, message.length + (details.stack?.length ?? 0));
  };
  let unreadable = 0;
  // an error that can't be read must not cause another one in the page
  const ignoreErrors = (work: () => void) => {
    if (attempt(() => (work(), true)) === null) unreadable += 1;
  };

  addLastingListener(
    window,
    'error',
    (event: Event) =>
      ignoreErrors(() => {
        if (event instanceof ErrorEvent) add({ kind: 'error', ...describeError(event.error, event) });
        else if (event.target instanceof Element) {
          const source = addressOf(event.target);
          if (source && failedResources.size < 5_000) failedResources.add(source);
          add({ kind: 'resource', message: `<${event.target.localName}> failed to load`, source });
        }
      }),
    { capture: true },
  );
  addLastingListener(
    window,
    'unhandledrejection',
    (event: PromiseRejectionEvent) =>
      ignoreErrors(() => add({ kind: 'unhandledrejection', ...describeError(event.reason) })),
    { capture: true },
  );
  addLastingListener(
    document,
    'securitypolicyviolation',
    (event: SecurityPolicyViolationEvent) =>
      ignoreErrors(() =>
        add({
          kind: 'csp',
          message: `${event.blockedURI || 'inline code'} broke the policy's ${event.effectiveDirective}`,
          source: event.sourceFile
            ? formatLocation({ url: event.sourceFile, line: event.lineNumber, column: event.columnNumber })
            : null,
        }),
      ),
    { capture: true },
  );
  return {
    read: (options) => ({ ...buffer.read(options, ({ ts }) => ts), unreadable }),
    failedResources,
  };
}

/** The details of a thrown value, which needn't be an Error. */
function describeError(thrown: unknown, event?: ErrorEvent): Omit<ErrorDetails, 'kind'> {
  const location = event?.filename
    ? formatLocation({ url: event.filename, line: event.lineno, column: event.colno })
    : null;
  if (!(thrown instanceof Error)) {
    const message = thrown == null && event ? event.message : formatArguments([thrown]).args[0]!;
    return { message, source: location };
  }
  const ownStack = removeRecorderFrames(readStack(thrown));
  const stack = (ownStack + formatCauses(thrown)).slice(0, 16_384) || null;
  const frames = parseStack(ownStack);
  const source = location ?? (frames[0] ? formatLocation(frames[0]) : null);
  return { name: String(thrown.name).slice(0, 200), message: String(thrown.message), stack, frames, source };
}

/** The address that an element loads. */
function addressOf(element: Element): string | null {
  const { currentSrc, src, href, data } = element as Element & { [name: string]: unknown };
  for (const each of [currentSrc, src, href, data])
    if (typeof each === 'string' && each) return each.slice(0, 8_192);
  return null;
}

/** A short hash that is the same in every session (cyrb53, not cryptographic). */
function hash(text: string): string {
  let [a, b] = [0xdeadbeef, 0x41c6ce57];
  for (let index = 0; index < text.length; index += 1) {
    a = Math.imul(a ^ text.charCodeAt(index), 2654435761);
    b = Math.imul(b ^ text.charCodeAt(index), 1597334677);
  }
  return [b, a].map((each) => (each >>> 0).toString(16).padStart(8, '0')).join('');
}
