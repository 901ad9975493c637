import type { ConsoleEntry } from '../shapes';
import { apply, is, now, wrap } from './natives';
import type { Order } from './order';
import { Ring } from './ring';
import { asText, brief, framesOf, place } from './stack';
import { argumentsAsText } from './text';

const LEVELS = {
  debug: 'debug',
  log: 'log',
  info: 'info',
  warn: 'warn',
  error: 'error',
  trace: 'log',
  dir: 'log',
  table: 'log',
  assert: 'error',
} as const;
const HEAVIEST = 2_000_000;

/** Their stacks are kept whole; of the others the place suffices, and costs a third. */
const TELLING = new Set(['warn', 'error', 'trace', 'assert']);

interface Kept {
  seq: number;
  ts: number;
  level: ConsoleEntry['level'];
  /** What can't change any more, as it was given, and becomes text when somebody asks; else text already. */
  given: readonly unknown[] | null;
  args: string[];
  cut: boolean;
  repeat: number;
  /** Its stack is written out when somebody asks: until then it costs next to nothing. */
  at: Error;
}

/** Listen to the console. Gives what reads it out. */
export function listenToConsole(order: Order): () => { entries: ConsoleEntry[]; dropped: number } {
  const ring = new Ring<Kept>(2_000, HEAVIEST);
  const take = (name: string, level: Kept['level'], all: readonly unknown[]) => {
    const light = weigh(all);
    const given = light < LIGHT ? all : null;
    const { args, cut } = given ? NOTHING : argumentsAsText(all);
    const last = ring.last;
    if (last?.level === level && equal(last.given, given) && equal(last.args, args)) {
      last.repeat += 1;
      return;
    }
    const weight = given ? light + 200 : args.reduce((sum, each) => sum + each.length, 200);
    const at = TELLING.has(name) ? new Error() : brief();
    ring.push({ seq: order.next(), ts: now(), level, given, args, cut, repeat: 1, at }, weight);
  };
  for (const [name, level] of Object.entries(LEVELS)) {
    wrap(console, name as keyof typeof LEVELS, (original) => ({
      call(this: unknown, ...given: unknown[]) {
        try {
          if (name !== 'assert') take(name, level, given);
          else if (!given[0]) take(name, level, ['Assertion failed:', ...given.slice(1)]);
        } catch {
          // the page's call goes on, whatever its arguments are
        }
        return apply(original, this, given as never);
      },
    }));
  }
  return () => ({ entries: ring.all.map(written), dropped: ring.dropped });
}

const LIGHT = 16_384;
const NOTHING = { args: [], cut: false };

/** How much room values take that can't change; endless, if one of them can. */
function weigh(given: readonly unknown[]): number {
  let sum = 0;
  for (const each of given) {
    if (typeof each === 'string') sum += each.length;
    else if (each !== null && (typeof each === 'object' || typeof each === 'function')) return Infinity;
    else sum += 10;
  }
  return sum;
}

function equal(one: readonly unknown[] | null, other: readonly unknown[] | null): boolean {
  if (!one || !other) return one === other;
  if (one.length !== other.length) return false;
  for (let at = 0; at < one.length; at += 1) if (!is(one[at], other[at])) return false;
  return true;
}

function written({ seq, ts, level, given, args, cut, repeat, at }: Kept): ConsoleEntry {
  const text = given ? argumentsAsText(given) : { args, cut };
  const frames = framesOf(at.stack ?? '');
  const source = frames[0] ? place(frames[0]) : null;
  const stack = asText(frames);
  return { seq, ts, level, args: text.args, stack, source, repeat, truncated: text.cut, frame: null };
}
