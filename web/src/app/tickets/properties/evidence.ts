import { withBase } from '../../core/navigation/base';
import type { CaptureSummary } from '../../../../generated/api';

/** Name a capture's most frequent error, such as "TypeError" and "×5"; null if there is none. */
export function nameErrors({
  counts,
  main_error: main,
}: CaptureSummary): { name: string; times: string } | null {
  if (counts.errors === 0) return null;
  if (!main) return { name: counts.errors === 1 ? '1 error' : `${counts.errors} errors`, times: '' };
  return { name: main.name, times: main.count > 1 ? `×${main.count}` : '' };
}

/** The address of the small picture of a capture's screenshot; null if it has none. */
export function findThumbnail(capture: CaptureSummary | null): string | null {
  return capture?.screenshot_id
    ? withBase(`/api/v1/assets/${capture.screenshot_id}/thumbnail?version=${capture.screenshot_version}`)
    : null;
}
