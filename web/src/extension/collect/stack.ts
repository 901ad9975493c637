import { COLLECTOR } from '../channel';
import type { Frame } from '../shapes';
import { getOwnPropertyDescriptor } from './natives';

const LINE = /^\s*at (?:(?:async )?(.*?) \()?((?:[a-z][a-z0-9+.-]*:|\/|<).*?)(?::(\d+))?(?::(\d+))?\)?$/i; // V8
const OTHER = /^(.*?)@(.*?)(?::(\d+))?(?::(\d+))?$/; // SpiderMonkey
/** A frame of the recorder's own, whatever else a line says; Firefox gives the extension's address in stacks. */
const OWN = new RegExp(`(?:^\\s*at (?:.*[ (])?|^[^@\\s]*@)(?:(?:chrome|moz)-extension://|${COLLECTOR}:)`);
const MOST = 50;
const BRIEF = 4;

/** A stack taken apart, innermost first, without the extension's own lines. */
export function framesOf(stack: string): Frame[] {
  const frames: Frame[] = [];
  for (const line of stack.split('\n')) {
    const match = LINE.exec(line) ?? (line.includes('@') && !/^\s*at /.test(line) ? OTHER.exec(line) : null);
    if (!match || OWN.test(line) || frames.length === MOST) continue;
    frames.push({
      url: match[2]!.slice(0, 8192),
      function: match[1]?.slice(0, 500) || null,
      line: match[3] ? Number(match[3]) : null,
      column: match[4] ? Number(match[4]) : null,
    });
  }
  return frames;
}

/** The same stack as text, one form for all browsers. */
export function asText(frames: Frame[]): string | null {
  return frames.map((each) => `    at ${each.function ?? '(anonymous)'} (${place(each)})`).join('\n') || null;
}

/** A stack as the browser wrote it, without the extension's own lines. */
export function withoutOwn(stack: string): string {
  return stack
    .split('\n')
    .filter((line) => !OWN.test(line))
    .join('\n')
    .trimEnd()
    .slice(0, 16_384);
}

export function place({ url, line, column }: Omit<Frame, 'function'>): string {
  return url + (line == null ? '' : `:${line}`) + (column == null ? '' : `:${column}`);
}

/** An error with the innermost lines of its stack, where the browser lets one ask for so few (V8). */
export function brief(): Error {
  const limit = getOwnPropertyDescriptor(Error, 'stackTraceLimit');
  if (!limit?.writable || typeof limit.value !== 'number' || limit.value < BRIEF) return new Error();
  Error.stackTraceLimit = BRIEF;
  const error = new Error();
  Error.stackTraceLimit = limit.value;
  return error;
}
