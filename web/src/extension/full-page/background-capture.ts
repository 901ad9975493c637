/** Full-page screenshots that the background takes, so that closing the popup doesn't end them. One at a time. */
import { drafts } from '../storage';
import { publishUpdate, type FullPageProgress } from './capture-updates';
import { captureFullPage } from './full-page';
import { replaceScreenshot } from './replace-screenshot';

let running: { progress: FullPageProgress; controller: AbortController } | null = null;

/** Capture the full page of a draft's tab into the stored draft. */
export async function captureDraftPage(id: string): Promise<void> {
  const draft = await drafts.get(id);
  if (!draft || running) return publishUpdate({ draft: id, problem: 'Another page is being captured.' });
  const controller = new AbortController();
  const current = (running = { progress: { draft: id, part: 0, partCount: 0 }, controller });
  const report = (part: number, partCount: number) => {
    current.progress = { draft: id, part, partCount };
    publishUpdate(current.progress);
  };
  try {
    const tab = await chrome.tabs.get(draft.tab);
    const captured = await captureFullPage(tab, report, controller.signal);
    const stored = await drafts.get(id); // the user may have changed it, or dropped it
    if (stored) await drafts.put(replaceScreenshot(stored, captured));
    publishUpdate({ draft: id, ...captured });
  } catch (error) {
    publishUpdate({ draft: id, problem: controller.signal.aborted ? null : (error as Error).message });
  } finally {
    running = null;
  }
}

export function cancelFullPage(): void {
  running?.controller.abort();
}

/** How far the screenshot is that is taken now; null if none is. */
export function readFullPageProgress(): FullPageProgress | null {
  return running?.progress ?? null;
}
