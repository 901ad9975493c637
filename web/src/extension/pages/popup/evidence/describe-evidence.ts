/** What a capture shows, in a few words: the chips of the popup. */
import { hasFailed } from '../../../../recorder/network/graphql-errors';
import type { Draft } from '../../../storage';

export interface Chip {
  kind: 'error' | 'failed' | 'plain';
  text: string;
}

const MAX_ERRORS = 2;
const BROWSERS = [
  [/Edg\/(\d+)/, 'Edge'],
  [/Firefox\/(\d+)/, 'Firefox'],
  [/Chrom(?:e|ium)\/(\d+)/, 'Chrome'],
] as const;

/** List what went wrong, most frequent errors first, and the browser. */
export function describeEvidence({ envelope, streams }: Draft): Chip[] {
  const chips: Chip[] = countErrors(streams.errors).map(([name, count]) => ({
    kind: 'error',
    text: count > 1 ? `${name} ×${count.toLocaleString('en')}` : name,
  }));
  const failed = streams.network.filter(hasFailed);
  if (failed.length)
    chips.push({ kind: 'failed', text: `${failed.length} failed request${failed.length === 1 ? '' : 's'}` });
  const logged = streams.console.filter(({ level }) => level === 'error').length;
  if (logged) chips.push({ kind: 'plain', text: `${logged} console error${logged === 1 ? '' : 's'}` });
  if (!chips.length && envelope.health.errors.status === 'ok')
    chips.push({ kind: 'plain', text: 'No errors' });
  const browser = nameBrowser(envelope.environment.browser ?? '');
  if (browser) chips.push({ kind: 'plain', text: browser });
  return chips;
}

/** The most frequent names of uncaught errors, with their numbers. */
function countErrors(errors: Draft['streams']['errors']): [string, number][] {
  const counts = new Map<string, number>();
  for (const { kind, name, count } of errors) {
    if (kind !== 'error' && kind !== 'unhandledrejection') continue;
    counts.set(name || 'Error', (counts.get(name || 'Error') ?? 0) + (count ?? 1));
  }
  return [...counts].sort(([, a], [, b]) => b - a).slice(0, MAX_ERRORS);
}

function nameBrowser(agent: string): string {
  for (const [pattern, name] of BROWSERS) {
    const version = pattern.exec(agent)?.[1];
    if (version) return `${name} ${version}`;
  }
  return '';
}
