/** Describes the health of a capture to its user. */
import {
  STREAMS,
  type Health,
  type HealthReason,
  type Redaction,
  type StreamName,
} from '../../recorder/capture-types';

export const STREAM_NAMES: Record<StreamName, string> = {
  console: 'Console',
  network: 'Network',
  errors: 'Errors',
  actions: 'Steps',
};
const REASONS: Record<HealthReason, string> = {
  csp: 'the page’s content security policy blocks the recorder',
  restricted_page: 'the browser doesn’t allow extensions on this page or in one of its frames',
  late_start: 'recording started after the page had loaded',
  policy: 'the project’s capture policy excludes it',
  limit: 'the page exceeded a recording limit',
  slowdown: 'recording slowed the page down',
  navigated: 'what happened on an earlier page of this tab is missing',
  hidden: 'the browser doesn’t show all of it to the extension',
  error: 'the page didn’t respond in time',
};
/** Why the capture is incomplete; each reason once. */
export function describeReasons(health: Health): string[] {
  const reasons = STREAMS.map((name) => health[name]?.reason).filter((each) => each != null);
  return [...new Set(reasons)].map((reason) => REASONS[reason]);
}

export function countDropped(health: Health): number {
  return STREAMS.reduce((sum, name) => sum + (health[name]?.dropped ?? 0), 0);
}

/** How many secrets were redacted, and where they were. */
export function describeRedaction({ headers, query, keys, patterns, extra }: Redaction): string {
  const parts = [
    count(headers, 'header'),
    count(query, 'query parameter'),
    count(keys, 'named value'),
    count((patterns ?? 0) + (extra ?? 0), 'secret in text', 'secrets in text'),
  ].filter(Boolean);
  const sum = [headers, query, keys, patterns, extra].reduce<number>((all, each) => all + (each ?? 0), 0);
  if (!sum) return 'No secrets found.';
  return `${sum} ${sum === 1 ? 'secret was' : 'secrets were'} redacted: ${parts.join(', ')}.`;
}

function count(number: number | undefined, one: string, many = `${one}s`): string {
  return number ? `${number} ${number === 1 ? one : many}` : '';
}

/** What part of the page the screenshot shows. */
export function describeScreenshot({ screenshot }: Health): string {
  if (!screenshot) return '';
  const sentences = ['The screenshot shows the full page.'];
  if (screenshot.cut) sentences.push('It is cut off at the size limit.');
  if (screenshot.inner) sentences.push('Scrollable areas show only their visible part.');
  return sentences.join(' ');
}
