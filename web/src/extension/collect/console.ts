import type { ConsoleEntry } from '../shapes';
import { apply, method, now, wrap } from './natives';
import type { Order } from './order';
import { Ring } from './ring';
import { asText, framesOf, place } from './stack';
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

interface Kept {
  seq: number;
  ts: number;
  level: ConsoleEntry['level'];
  args: string[];
  cut: boolean;
  repeat: number;
  /** Its stack is written out when somebody asks: until then it costs next to nothing. */
  at: Error;
}

/** Listen to the console. Gives what reads it out. */
export function listenToConsole(order: Order): () => { entries: ConsoleEntry[]; dropped: number } {
  const ring = new Ring<Kept>(2_000, HEAVIEST);
  const take = (level: Kept['level'], given: readonly unknown[]) => {
    const { args, cut } = argumentsAsText(given);
    const last = ring.last;
    if (
      last?.level === level &&
      last.args.length === args.length &&
      last.args.every((each, i) => each === args[i])
    ) {
      last.repeat += 1;
      return;
    }
    const weight = args.reduce((sum, each) => sum + each.length, 200);
    ring.push({ seq: order.next(), ts: now(), level, args, cut, repeat: 1, at: new Error() }, weight);
  };
  for (const [name, level] of Object.entries(LEVELS)) {
    wrap(console, name as keyof typeof LEVELS, (original) =>
      method(function (this: unknown, ...given: unknown[]) {
        try {
          if (name !== 'assert') take(level, given);
          else if (!given[0]) take(level, ['Assertion failed:', ...given.slice(1)]);
        } catch {
          // the page's call goes on, whatever its arguments are
        }
        return apply(original, this, given as never);
      }),
    );
  }
  return () => ({ entries: ring.all.map(written), dropped: ring.dropped });
}

function written({ seq, ts, level, args, cut, repeat, at }: Kept): ConsoleEntry {
  const frames = framesOf(at.stack ?? '');
  const source = frames[0] ? place(frames[0]) : null;
  return { seq, ts, level, args, stack: asText(frames), source, repeat, truncated: cut, frame: null };
}
