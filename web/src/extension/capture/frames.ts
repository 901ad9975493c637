import type { FrameReport, HealthReason } from '../../recorder/capture-types';
import { injectRecorder } from '../recording/content-scripts';
import { isRestrictedPage } from './restricted-pages';

const TIMEOUT_MS = 5_000;

export interface ReadFrame {
  /** The browser's id of the frame; 0 is the top frame. */
  id: number;
  /** Null if the record reader isn't running in the frame. */
  report: FrameReport | null;
}
/** The frames of a tab, or why none can be read. */
export type FramesResult = { frames: ReadFrame[] } | { reason: HealthReason };

/**
 * Read all frames of a tab. Starts the recorder in those that aren't recorded yet. `limit`: only so many entries of each
 * stream, the newest, except the actions.
 */
export async function readFrames(tab: chrome.tabs.Tab, limit: number | null = null): Promise<FramesResult> {
  if (isRestrictedPage(tab)) return { reason: 'restricted_page' };
  const id = tab.id!;
  try {
    const frames = await withTimeout(readReports(id, limit));
    if (frames.every(({ report }) => report)) return { frames };
    await withTimeout(injectRecorder(id));
    return { frames: await withTimeout(readReports(id, limit)) };
  } catch (error) {
    return { reason: error instanceof TimeoutError ? 'error' : 'restricted_page' };
  }
}

async function readReports(tab: number, limit: number | null): Promise<ReadFrame[]> {
  const results = await chrome.scripting.executeScript({
    target: { tabId: tab, allFrames: true },
    func: (entries) => globalThis.readTicketboxFrame?.(entries) ?? null,
    args: [limit],
  });
  return results.map(({ frameId, result }) => ({
    id: frameId,
    report: (result as FrameReport | null | undefined) ?? null,
  }));
}

class TimeoutError extends Error {}

/** Reject if a page that hangs doesn't respond in time; its screenshot can be captured anyway. */
export function withTimeout<T>(promise: Promise<T>): Promise<T> {
  const timeout = new Promise<T>((_, reject) => setTimeout(() => reject(new TimeoutError()), TIMEOUT_MS));
  return Promise.race([promise, timeout]);
}
