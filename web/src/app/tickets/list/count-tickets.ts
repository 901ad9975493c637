import { formatNumber } from '../../ui/time/dates';

const MOST_COUNTED = 1_000; // by the server

/**
 * How many tickets a list has. `loaded`: how many are here; `following`: how many follow them, null if that isn't known.
 */
export function formatTicketCount(loaded: number, hasMore: boolean, following: number | null): string {
  if (!hasMore) return formatNumber(loaded);
  return following === null ? `${formatNumber(loaded)}+` : formatNumber(loaded + following);
}

/** How many tickets follow the loaded ones, if the server counted them; null if there are very many. */
export function countFollowing(total: number | undefined, loaded: number): number | null {
  return total === undefined || total >= MOST_COUNTED ? null : Math.max(0, total - loaded);
}
