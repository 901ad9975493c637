/** The health of a capture in words, as the server says it later (ticketbox/domain/captures/health.py). */
import type { Health, Reason, StreamHealth, StreamName } from '../shapes';
import { STREAMS } from '../shapes';

export const NAMES: Record<StreamName, string> = { console: 'Console', network: 'Network', errors: 'Errors' };
const REASONS: Record<Reason, string> = {
  csp: 'the page’s security policy keeps the recorder out',
  restricted_page: 'the browser lets no extension into this page, or into a frame of it',
  late_start: 'recording began after the page had loaded',
  policy: 'the project’s capture policy leaves it out',
  limit: 'the page made more than is kept',
  error: 'the page didn’t answer in time',
};
const STATUS: Record<StreamHealth['status'], string> = {
  ok: 'complete',
  partial: 'in part',
  empty: 'nothing recorded',
  blocked: 'not collected',
  disabled: 'off',
};

export function statusOf(health: StreamHealth): string {
  return STATUS[health.status];
}

/** Why something is missing, once for each reason. */
export function reasons(health: Health): string[] {
  const found = STREAMS.map((name) => health[name].reason).filter((each) => each != null);
  return [...new Set(found)].map((reason) => REASONS[reason]);
}

export function dropped(health: Health): number {
  return STREAMS.reduce((sum, name) => sum + (health[name].dropped ?? 0), 0);
}

/** What the picture shows, where that isn't just what was in view. */
export function shownIn({ screenshot }: Health): string {
  if (!screenshot) return 'The picture shows what you see.';
  const said = ['The picture shows the page from top to bottom.'];
  if (screenshot.cut) said.push('The page goes on where the picture ends.');
  if (screenshot.inner) said.push('Parts that scroll by themselves show only what was in view.');
  return said.join(' ');
}
