import type { Environment } from '../capture-types';
import { attempt } from '../natives/restore-natives';
import { recordLongFrames } from './long-frames';
import { recordWebVitals } from './web-vitals';

/** Start measuring how the page performs. Returns a function that reads what the browser could measure. */
export function recordPerformance(): () => Pick<Environment, 'vitals' | 'long_frames'> {
  const readVitals = attempt(recordWebVitals);
  const readLongFrames = attempt(recordLongFrames);
  return () => {
    const vitals = readVitals && attempt(readVitals);
    const frames = readLongFrames && attempt(readLongFrames);
    return { ...(vitals ? { vitals } : {}), ...(frames ? { long_frames: frames } : {}) };
  };
}
