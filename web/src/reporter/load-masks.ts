import type { ReportAddress } from './report-address';

const MAX_WAIT_MS = 5_000;

/** Load the CSS selectors of what the project hides; null if the server can't be asked. */
export async function loadMasks(address: ReportAddress): Promise<string[] | null> {
  try {
    const answer = await fetch(address.intake, {
      credentials: 'omit',
      signal: AbortSignal.timeout(MAX_WAIT_MS),
    });
    return answer.ok ? ((await answer.json()) as { mask_selectors: string[] }).mask_selectors : null;
  } catch {
    return null;
  }
}
