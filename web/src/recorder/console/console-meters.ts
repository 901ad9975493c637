import { now } from '../natives/natives';

/** A page can make up labels without end. */
const MAX_LABELS = 1_000;

/** Counters and timers of the console, which prints their state and not what it was called with. */
export class ConsoleMeters {
  // without a prototype, because a page can change that of Map
  readonly #counts = Object.create(null) as Record<string, number>;
  readonly #starts = Object.create(null) as Record<string, number>;
  #labels = 0;

  /** Note a call of `time` or `countReset`, which print nothing. */
  start(method: 'time' | 'countReset', label: unknown): void {
    const name = nameOf(label);
    if (method === 'countReset') this.#counts[name] &&= 0;
    else if (this.#hasRoom(this.#starts, name)) this.#starts[name] ??= now();
  }

  /** The values that a call prints; null if it prints none. */
  describeCall(method: string, values: readonly unknown[]): readonly unknown[] | null {
    const name = nameOf(values[0]);
    switch (method) {
      case 'assert':
        return values[0] ? null : ['Assertion failed:', ...values.slice(1)];
      case 'count':
        if (!this.#hasRoom(this.#counts, name)) return values;
        this.#counts[name] = (this.#counts[name] ?? 0) + 1;
        return [`${name}: ${this.#counts[name]}`];
      case 'timeLog':
      case 'timeEnd': {
        const start = this.#starts[name];
        if (start === undefined) return null;
        const line = [`${name}: ${(now() - start).toFixed(1)} ms`, ...values.slice(1)];
        if (method === 'timeEnd') {
          delete this.#starts[name];
          this.#labels -= 1;
        }
        return line;
      }
      default:
        return values;
    }
  }

  /** Whether a label is known, or can be remembered. */
  #hasRoom(meters: Record<string, number>, name: string): boolean {
    if (name in meters) return true;
    if (this.#labels >= MAX_LABELS) return false;
    this.#labels += 1;
    return true;
  }
}

/** The name of a counter or timer. Objects aren't converted, because that runs code of the page. */
function nameOf(label: unknown): string {
  if (label === undefined) return 'default';
  return typeof label === 'object' || typeof label === 'function' ? '(object)' : String(label).slice(0, 200);
}
