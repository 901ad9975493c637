import type { Environment } from '../capture-types';

type LongFrame = NonNullable<Environment['long_frames']>[number];

// https://w3c.github.io/long-animation-frames/, which Firefox doesn't have
interface LongFrameTiming extends PerformanceEntry {
  blockingDuration: number;
  scripts: ScriptTiming[];
}
interface ScriptTiming extends PerformanceEntry {
  invoker: string;
  sourceURL: string;
  sourceFunctionName: string;
}

const TYPE = 'long-animation-frame';
const MAX_FRAMES = 10;
const MAX_SCRIPTS = 3;
const MAX_NAME = 200;
const MAX_URL = 1_000;

/** Start recording the page's longest frames. Returns a function that reads them; null if the browser has none. */
export function recordLongFrames(): () => LongFrame[] | null {
  if (!PerformanceObserver.supportedEntryTypes.includes(TYPE)) return () => null;
  let frames: LongFrame[] = [];
  const add = (entries: PerformanceEntry[]) => {
    const all = [...frames, ...(entries as LongFrameTiming[]).map(convertFrame)];
    frames = all.sort((a, b) => b.duration_ms - a.duration_ms).slice(0, MAX_FRAMES);
  };
  const observer = new PerformanceObserver((list) => add(list.getEntries()));
  observer.observe({ type: TYPE, buffered: true });
  return () => {
    add(observer.takeRecords());
    return [...frames].sort((a, b) => a.ts - b.ts);
  };
}

function convertFrame({ startTime, duration, blockingDuration, scripts }: LongFrameTiming): LongFrame {
  return {
    ts: performance.timeOrigin + startTime,
    duration_ms: Math.round(duration),
    blocking_ms: Math.round(blockingDuration),
    scripts: [...scripts]
      .sort((a, b) => b.duration - a.duration)
      .slice(0, MAX_SCRIPTS)
      .map((script) => ({
        duration_ms: Math.round(script.duration),
        url: script.sourceURL.slice(0, MAX_URL),
        function: script.sourceFunctionName.slice(0, MAX_NAME),
        invoker: script.invoker.slice(0, MAX_NAME),
      })),
  };
}
