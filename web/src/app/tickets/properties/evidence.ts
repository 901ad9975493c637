import { withBase } from '../../core/navigation/base';
import type { CaptureSummary } from '../../../../generated/api';

/** Name a capture's most frequent error, such as "TypeError ×5"; null if there is none. */
export function nameErrors({ counts, main_error: main }: CaptureSummary): string | null {
  if (counts.errors === 0) return null;
  if (!main) return counts.errors === 1 ? '1 error' : `${counts.errors} errors`;
  return main.count > 1 ? `${main.name} ×${main.count}` : main.name;
}

/** The address of the small picture of a capture's screenshot; null if it has none. */
export function findThumbnail(capture: CaptureSummary | null): string | null {
  return capture?.screenshot_id
    ? withBase(`/api/v1/assets/${capture.screenshot_id}/thumbnail?version=${capture.screenshot_version}`)
    : null;
}
