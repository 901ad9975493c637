import type { Frame } from './capture-types';
import { RECORDER_SOURCE } from './channel';
import { getOwnPropertyDescriptor } from './natives/natives';

const V8_FRAME = /^\s*at (?:(?:async )?(.*?) \()?((?:[a-z][a-z0-9+.-]*:|\/|<).*?)(?::(\d+))?(?::(\d+))?\)?$/i;
const SPIDERMONKEY_FRAME = /^(.*?)@(.*?)(?::(\d+))?(?::(\d+))?$/;
/** A frame of the recorder, whatever else the line says. Firefox puts the extension's address into stacks. */
const RECORDER_FRAME = new RegExp(
  `(?:^\\s*at (?:.*[ (])?|^[^@\\s]*@)(?:(?:chrome|moz)-extension://|${RECORDER_SOURCE}:)`,
);
const MAX_FRAMES = 50;
/** Those of the recorder, and the one that called it. */
const SHORT_STACK_FRAMES = 6;

/** The frames of a stack, innermost first, without those of the recorder. */
export function parseStack(stack: string): Frame[] {
  const frames: Frame[] = [];
  for (const line of stack.split('\n')) {
    const match =
      V8_FRAME.exec(line) ??
      (line.includes('@') && !/^\s*at /.test(line) ? SPIDERMONKEY_FRAME.exec(line) : null);
    if (!match || RECORDER_FRAME.test(line) || frames.length === MAX_FRAMES) continue;
    frames.push({
      url: match[2]!.slice(0, 8192),
      function: match[1]?.slice(0, 500) || null,
      line: match[3] ? Number(match[3]) : null,
      column: match[4] ? Number(match[4]) : null,
    });
  }
  return frames;
}

/** Frames as text, in one format for all browsers. */
export function formatFrames(frames: Frame[]): string | null {
  return (
    frames.map((each) => `    at ${each.function ?? '(anonymous)'} (${formatLocation(each)})`).join('\n') ||
    null
  );
}

/** A stack as the browser wrote it, without the recorder's lines. */
export function removeRecorderFrames(stack: string): string {
  return stack
    .split('\n')
    .filter((line) => !RECORDER_FRAME.test(line))
    .join('\n')
    .trimEnd()
    .slice(0, 16_384);
}

export function formatLocation({ url, line, column }: Omit<Frame, 'function'>): string {
  return url + (line == null ? '' : `:${line}`) + (column == null ? '' : `:${column}`);
}

/** The stack of an error; '' if the page's `Error.prepareStackTrace` throws or returns something else. */
export function readStack(error: Error): string {
  try {
    const stack: unknown = error.stack;
    return typeof stack === 'string' ? stack : '';
  } catch {
    return '';
  }
}

/** An error with only the innermost frames of the stack, where the browser can limit them (V8). */
export function createShortError(): Error {
  const limit = getOwnPropertyDescriptor(Error, 'stackTraceLimit');
  if (!limit?.writable || typeof limit.value !== 'number' || limit.value < SHORT_STACK_FRAMES)
    return new Error();
  Error.stackTraceLimit = SHORT_STACK_FRAMES;
  const error = new Error();
  Error.stackTraceLimit = limit.value;
  return error;
}
