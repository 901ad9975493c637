import type { ReportAddress } from './report-address';

const MAX_WAIT_MS = 5_000;

/** What the project hides, as CSS selectors, and the names of further values that its pages declare. */
export interface ReportSettings {
  mask_selectors: string[];
  declared_names: string[];
  /** Whether pictures of the page are stored. */
  accepts_pictures: boolean;
}

/** Load the settings of the project; null if the server can't be asked. */
export async function loadSettings(address: ReportAddress): Promise<ReportSettings | null> {
  try {
    const answer = await fetch(address.intake, {
      credentials: 'omit',
      signal: AbortSignal.timeout(MAX_WAIT_MS),
    });
    return answer.ok ? ((await answer.json()) as ReportSettings) : null;
  } catch {
    return null;
  }
}
