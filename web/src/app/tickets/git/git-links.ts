import type { GitLink } from '../../../../generated/api';
import { formatCount } from '../../ui/display/format';

const KINDS: Record<GitLink['kind'], string> = {
  pull_request: 'pull request',
  branch: 'branch',
  commit: 'commit',
};
const CHECKS = { passing: 'checks pass', failing: 'checks fail', pending: 'checks run' };

/** Describe a branch, commit or pull request: "pull request, merged, checks pass". */
export function describeGitLink({ kind, state, checks }: Pick<GitLink, 'kind' | 'state' | 'checks'>): string {
  return [KINDS[kind], describeState(kind, state), checks && CHECKS[checks]].filter(Boolean).join(', ');
}

/** Find what git hooks say about an address that an agent reported. */
export function findGitLink(links: GitLink[], url: string): GitLink | undefined {
  const trim = (address: string) => address.replace(/\/+$/, '');
  return links.find((each) => trim(each.url) === trim(url));
}

/** What is worth a chip about a pull request: its checks while it is open, then how it ended. */
export function nameOutcome({
  state,
  checks,
  check_count,
}: Pick<GitLink, 'state' | 'checks' | 'check_count'>): Outcome | null {
  if (state !== null && state !== 'open')
    return { label: state === 'merged' ? 'Merged' : 'Closed', tone: 'neutral' };
  if (checks === 'passing' && check_count)
    return { ...OUTCOMES.passing, label: formatCount(check_count, 'check', 'checks'), ending: ' pass' };
  return checks ? OUTCOMES[checks] : null;
}

interface Outcome {
  label: string;
  /** What the colour and the icon say, for those who don't see them. */
  ending?: string;
  tone: 'ok' | 'error' | 'warn' | 'neutral';
}
const OUTCOMES: Record<NonNullable<GitLink['checks']>, Outcome> = {
  passing: { label: 'Checks pass', tone: 'ok' },
  failing: { label: 'Checks fail', tone: 'error' },
  pending: { label: 'Checks run', tone: 'warn' },
};

function describeState(kind: GitLink['kind'], state: GitLink['state']): string | null {
  if (kind === 'branch') return state === 'closed' ? 'deleted' : null;
  return kind === 'commit' && state ? 'in the default branch' : state;
}

/** Describe an event of a git hook as the rest of a sentence that begins with a name. */
export function describeGitEvent(type: string, details: Record<string, unknown>): string {
  const kind = KINDS[details['kind'] as GitLink['kind']];
  const what = `${kind} ${String(details['name'])}`;
  if (type === 'ticket.git_linked') return `linked ${what}`;
  if (type === 'ticket.git_held')
    return `landed ${what}, but this project asks for more before the ticket is done`;
  const state = describeState(details['kind'] as GitLink['kind'], details['state'] as GitLink['state']);
  return `reported ${what} as ${state ?? 'open'}`;
}
