/** Differences up to this come from the network and the age of a response. */
const TOLERANCE_MS = 60_000;

const clock = $state({ behind: 0 });

/** Learn from a response by how much the device's clock is wrong. */
export function compareClocks({ headers }: Response): void {
  const behind = Date.parse(headers.get('Date') ?? '') - Date.now();
  if (!Number.isNaN(behind)) clock.behind = Math.abs(behind) > TOLERANCE_MS ? behind : 0;
}

/** By how many milliseconds the device's clock is behind the server's, whose times are shown. */
export const readDelay = (): number => clock.behind;
