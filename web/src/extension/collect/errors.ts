import type { ErrorEntry } from '../shapes';
import { now } from './natives';
import type { Order } from './order';
import { Ring } from './ring';
import { framesOf, place, withoutOwn } from './stack';
import { argumentsAsText } from './text';

type Found = Pick<ErrorEntry, 'kind' | 'message'> & Partial<ErrorEntry>;

/** Listen to what goes wrong without being handled. Gives what reads it out, and the resources that failed. */
export function listenToErrors(order: Order): {
  read: () => { entries: ErrorEntry[]; dropped: number };
  failed: Set<string>;
} {
  const ring = new Ring<ErrorEntry>(500, 1_000_000);
  const known = new Map<string, ErrorEntry>();
  const failed = new Set<string>();

  const take = (found: Found) => {
    const { kind, name = '', message, frames = [], source = null } = found;
    const origin = JSON.stringify([kind, name, message, frames[0] ?? source]);
    const before = known.get(origin);
    if (before) {
      before.count! += 1;
      return;
    }
    const entry: ErrorEntry = {
      seq: order.next(),
      ts: now(),
      stack: null,
      frames: [],
      source: null,
      name: '',
      ...found,
      message: message.slice(0, 8_192),
      fingerprint: hash(origin),
      count: 1,
      frame: null,
    };
    if (known.size < 1_000) known.set(origin, entry);
    ring.push(entry, message.length + (found.stack?.length ?? 0));
  };
  const safely = (work: () => void) => {
    try {
      work();
    } catch {
      // an error that can't be read must not become another one of the page's
    }
  };

  addEventListener(
    'error',
    (event: Event) =>
      safely(() => {
        if (event instanceof ErrorEvent) take({ kind: 'error', ...thrown(event.error, event) });
        else if (event.target instanceof Element) {
          const source = addressOf(event.target);
          if (source && failed.size < 5_000) failed.add(source);
          take({ kind: 'resource', message: `<${event.target.localName}> failed to load`, source });
        }
      }),
    true,
  );
  addEventListener(
    'unhandledrejection',
    (event) => safely(() => take({ kind: 'unhandledrejection', ...thrown(event.reason) })),
    true,
  );
  document.addEventListener(
    'securitypolicyviolation',
    (event) =>
      safely(() =>
        take({
          kind: 'csp',
          message: `${event.blockedURI || 'inline code'} broke the policy's ${event.effectiveDirective}`,
          source: event.sourceFile
            ? place({ url: event.sourceFile, line: event.lineNumber, column: event.columnNumber })
            : null,
        }),
      ),
    true,
  );
  return { read: () => ({ entries: ring.all, dropped: ring.dropped }), failed };
}

function thrown(value: unknown, event?: ErrorEvent): Omit<Found, 'kind'> {
  const at = event?.filename ? place({ url: event.filename, line: event.lineno, column: event.colno }) : null;
  if (!(value instanceof Error)) {
    const text = value == null && event ? event.message : argumentsAsText([value]).args[0]!;
    return { message: text, source: at };
  }
  const stack = typeof value.stack === 'string' ? withoutOwn(value.stack) : null;
  const frames = framesOf(stack ?? '');
  const source = at ?? (frames[0] ? place(frames[0]) : null);
  return { name: String(value.name).slice(0, 200), message: String(value.message), stack, frames, source };
}

function addressOf(element: Element): string | null {
  const { currentSrc, src, href, data } = element as Element & { [name: string]: unknown };
  for (const each of [currentSrc, src, href, data])
    if (typeof each === 'string' && each) return each.slice(0, 8_192);
  return null;
}

/** A short name for the same text, the same in every session (cyrb53; it guards nothing). */
function hash(text: string): string {
  let [a, b] = [0xdeadbeef, 0x41c6ce57];
  for (let at = 0; at < text.length; at += 1) {
    a = Math.imul(a ^ text.charCodeAt(at), 2654435761);
    b = Math.imul(b ^ text.charCodeAt(at), 1597334677);
  }
  return [b, a].map((each) => (each >>> 0).toString(16).padStart(8, '0')).join('');
}
