import type { ConsoleEntry, ReadOptions } from '../capture-types';
import { formatArguments } from './console-format';
import { ConsoleMeters } from './console-meters';
import { apply, is, now, wrap } from '../natives/natives';
import { convertEach, RingBuffer } from '../ring-buffer';
import { attempt } from '../natives/restore-natives';
import type { Sequence } from '../sequence';
import { createShortError, formatFrames, formatLocation, parseStack, readStack } from '../stack-trace';

const LEVELS = {
  debug: 'debug',
  log: 'log',
  info: 'info',
  warn: 'warn',
  error: 'error',
  trace: 'log',
  dir: 'log',
  dirxml: 'log',
  table: 'log',
  group: 'log',
  groupCollapsed: 'log',
  count: 'log',
  timeLog: 'log',
  timeEnd: 'log',
  assert: 'error',
} as const;
const MAX_ENTRIES = 2_000;
const MAX_WEIGHT = 2_000_000;
/** Arguments of constant value up to this weight are formatted only when the record is read. */
const MAX_LAZY_WEIGHT = 16_384;
const NOT_FORMATTED = { args: [], truncated: false };

/** Methods whose whole stack is recorded. The others record the innermost frames, at a third of the cost. */
const WITH_FULL_STACK = new Set(['warn', 'error', 'trace', 'assert']);

interface LogEntry {
  seq: number;
  ts: number;
  level: ConsoleEntry['level'];
  /** The arguments where none can change; they are formatted when the record is read. Null if `args` has the text. */
  values: readonly unknown[] | null;
  args: string[];
  truncated: boolean;
  repeat: number;
  /** Created at the call. Formatting its stack is deferred until the record is read, because that is expensive. */
  callSite: Error;
}

/** Start recording the console. Returns a function that reads the record. */
export function recordConsole(
  sequence: Sequence,
): (options: ReadOptions) => { entries: ConsoleEntry[]; dropped: number; unreadable: number } {
  const buffer = new RingBuffer<LogEntry>(MAX_ENTRIES, MAX_WEIGHT);
  const add = (method: string, level: LogEntry['level'], allValues: readonly unknown[]) => {
    const lazyWeight = weighConstants(allValues);
    const values = lazyWeight < MAX_LAZY_WEIGHT ? allValues : null;
    const { args, truncated } = values ? NOT_FORMATTED : formatArguments(allValues);
    const { last } = buffer;
    if (last?.level === level && areSame(last.values, values) && areSame(last.args, args)) {
      last.repeat += 1;
      return;
    }
    const weight = values ? lazyWeight + 200 : args.reduce((sum, each) => sum + each.length, 200);
    const callSite = WITH_FULL_STACK.has(method) ? new Error() : createShortError();
    buffer.push(
      { seq: sequence.next(), ts: now(), level, values, args, truncated, repeat: 1, callSite },
      weight,
    );
  };
  const meters = new ConsoleMeters();
  let unreadable = 0;
  for (const method of ['time', 'countReset'] as const)
    wrap(console, method, (original) => ({
      call(this: unknown, ...args: unknown[]) {
        attempt(() => meters.start(method, args[0]));
        return apply(original, this, args as never);
      },
    }));
  for (const [method, level] of Object.entries(LEVELS)) {
    wrap(console, method as keyof typeof LEVELS, (original) => ({
      call(this: unknown, ...args: unknown[]) {
        // the page's call must succeed, whatever its arguments are
        let values: readonly unknown[] | null = null; // counted once, also if adding them fails at first
        const isAdded = attempt(() => {
          values ??= meters.describeCall(method, args);
          if (values) add(method, level, values);
          return true;
        });
        if (!isAdded) unreadable += 1;
        return apply(original, this, args as never);
      },
    }));
  }
  return (options) => {
    const { entries, dropped } = buffer.read(options, ({ ts }) => ts);
    const lines = convertEach(entries, toConsoleEntry);
    return { entries: lines.entries, dropped, unreadable: unreadable + lines.unreadable };
  };
}

/** The weight of constant values; Infinity if one of them can change. */
function weighConstants(values: readonly unknown[]): number {
  let sum = 0;
  for (const each of values) {
    if (typeof each === 'string') sum += each.length;
    else if (each !== null && (typeof each === 'object' || typeof each === 'function')) return Infinity;
    else sum += 10;
  }
  return sum;
}

function areSame(one: readonly unknown[] | null, other: readonly unknown[] | null): boolean {
  if (!one || !other) return one === other;
  if (one.length !== other.length) return false;
  for (let index = 0; index < one.length; index += 1) if (!is(one[index], other[index])) return false;
  return true;
}

function toConsoleEntry(entry: LogEntry): ConsoleEntry {
  const { seq, ts, level, values, repeat } = entry;
  const { args, truncated } = values ? formatArguments(values) : entry;
  const frames = parseStack(readStack(entry.callSite));
  const source = frames[0] ? formatLocation(frames[0]) : null;
  return {
    seq,
    ts,
    level,
    args,
    stack: formatFrames(frames),
    source,
    repeat,
    truncated,
    frame: null,
    document: 0,
  };
}
