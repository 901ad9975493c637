import type { PlanItem, Usage, WorkLink, WorkQuestion, WorkRepository } from '../../../../generated/api';
import { shortenCommit } from '../git/commits';
import { isAgent, type Session } from './workers';

export { findSession, isAgent, nameWorker, type Session } from './workers';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** After so long without a sign of life, an agent counts as not responding. */
export const SILENT_AFTER_MS = 5 * MINUTE;

/** Format a length of time: "6 s", "14 min", "2 h 5 min", "3 d". */
export function formatDuration(ms: number): string {
  if (ms < MINUTE) return `${Math.max(0, Math.floor(ms / SECOND))} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min`;
  if (ms >= DAY) return `${Math.floor(ms / DAY)} d`;
  const minutes = Math.floor((ms % HOUR) / MINUTE);
  return `${Math.floor(ms / HOUR)} h${minutes > 0 ? ` ${minutes} min` : ''}`;
}

/** Format how long ago something was, without the date: "6 s ago". Clocks may differ, so the future is now. */
export function formatSince(at: string, now: number): string {
  return `${formatDuration(now - Date.parse(at))} ago`;
}

type Signs = Pick<Session, 'state' | 'last_seen' | 'question'>;

const WAITS = {
  question: 'Waiting',
  plan: 'Plan to approve',
  done: 'Work to accept',
};

/** Describe what a session waits for. One that hasn't asked for anything must show its plan first. */
function describeWait({ question, last_seen }: Signs): string {
  if (last_seen === null) return WAITS.question; // only known from its ticket's claim
  if (question?.answer === null) return WAITS[question.kind];
  return question?.kind === 'plan' ? 'Plan was declined' : 'Plan is missing';
}

/** Whether a session can still be reported on: it hasn't ended, and its claim hasn't expired. */
export function isRunning(session: Pick<Session, 'ended' | 'state'>): boolean {
  return session.ended === null && session.state !== 'stale';
}

/** Whether an agent that should be at work has given no sign of life for a while. */
export function isSilent(session: Signs, now: number): boolean {
  if (session.state === 'stale') return true;
  return (
    session.state === 'active' &&
    session.last_seen !== null &&
    now - Date.parse(session.last_seen) >= SILENT_AFTER_MS
  );
}

/** Describe what a session does now and its last sign of life: "Waiting · last seen 6 s ago". */
export function describeState(session: Signs, now: number): string {
  const seen = session.last_seen === null ? '' : formatSince(session.last_seen, now);
  if (isSilent(session, now)) return `Stopped responding ${seen}`;
  if (session.state === 'done') return `Finished ${seen}`;
  const doing = session.state === 'awaiting_input' ? describeWait(session) : 'Working';
  return seen ? `${doing} · last seen ${seen}` : doing;
}

/** Describe a question that waits: when it was asked, and how far the plan is: "Asked 4 min ago · step 3 of 5". */
export function describeAsked({ asked }: WorkQuestion, plan: PlanItem[], now: number): string {
  const kept = plan.filter((item) => item.state !== 'dropped');
  const step = kept.findIndex((item) => item.state === 'active');
  return [
    `Asked ${formatSince(asked.at, now)}`,
    ...(step >= 0 ? [`step ${step + 1} of ${kept.length}`] : []),
  ].join(' · ');
}

/** The question of a session that waits for an answer. */
export function findOpenQuestion(session: Session): WorkQuestion | null {
  const { question, ended } = session;
  return question && question.answer === null && ended === null ? question : null;
}

const DECISIONS: Record<WorkQuestion['kind'], Record<string, string>> = {
  question: {},
  plan: { approved: 'Approve plan', declined: 'Decline' },
  done: { approved: 'Accept', declined: 'Decline' },
};

/** The words on the button for a choice: what a decision does, or the choice itself. */
export function nameChoice(question: Pick<WorkQuestion, 'kind'>, choice: string): string {
  return DECISIONS[question.kind][choice] ?? choice;
}

/** An answer in words. */
export function nameAnswer({ kind, answer }: Pick<WorkQuestion, 'kind' | 'answer'>): string {
  if (kind === 'question' || answer === null) return answer ?? '';
  if (answer === 'declined') return 'Declined';
  return kind === 'plan' ? 'Plan approved' : 'Accepted';
}

/** Whether an ended session of an agent is worth showing: it stopped responding, or it left results. */
export function hasOutcome(session: Session): boolean {
  if (!isAgent(session.by)) return false;
  return (
    session.state === 'stale' || session.plan.length > 0 || session.links.length > 0 || session.note !== null
  );
}

/** Describe a running session in a few words, for a card: what the agent does, and since when. */
export function describeBriefly(session: Session, now: number): string {
  const { last_seen, started } = session;
  if (session.state === 'awaiting_input') {
    const words = describeWait(session);
    return words === WAITS.question ? 'Has a question' : words;
  }
  if (isSilent(session, now) && last_seen) return `Stopped responding ${formatSince(last_seen, now)}`;
  const doing = currentStep(session.plan)?.text ?? session.note;
  return doing && last_seen
    ? `${doing} · ${formatSince(last_seen, now)}`
    : `For ${formatDuration(now - Date.parse(started))}`;
}

/** The step of a plan that is being worked on. */
export function currentStep(plan: PlanItem[]): PlanItem | undefined {
  return plan.find((item) => item.state === 'active');
}

/** What is being worked on and how far the plan is, in one line. */
export function describePlan(plan: PlanItem[]): string {
  const { done, total } = measureProgress(plan);
  return total === 0
    ? 'Work session'
    : `${currentStep(plan)?.text ?? 'Plan'} · ${done} of ${total} steps done`;
}

/** How far a plan is. Dropped steps don't count. */
export function measureProgress(plan: PlanItem[]): { done: number; total: number } {
  const kept = plan.filter((item) => item.state !== 'dropped');
  return { done: kept.filter((item) => item.state === 'done').length, total: kept.length };
}

/** Format tokens in thousands or millions: "412k tokens". */
function formatTokens(count: number): string {
  if (count < 1_000) return `${count} ${count === 1 ? 'token' : 'tokens'}`;
  if (count < 999_500) return `${Math.round(count / 1_000)}k tokens`;
  return `${(count / 1_000_000).toFixed(1)}M tokens`;
}

/** Format what a session has used: "412k tokens · $1.84". Empty if the agent reports nothing. */
export function formatUsage(usage: Usage | null): string {
  if (!usage) return '';
  const { input_tokens, output_tokens, cost_usd } = usage;
  const tokens =
    input_tokens === null && output_tokens === null ? null : (input_tokens ?? 0) + (output_tokens ?? 0);
  return [
    ...(tokens === null ? [] : [formatTokens(tokens)]),
    ...(cost_usd === null ? [] : [`$${cost_usd.toFixed(2)}`]),
  ].join(' · ');
}

/** The text of a link: the number of a pull request, a short commit, a branch's name, a preview's host. */
export function nameLink(link: WorkLink): string {
  const address = URL.parse(link.url);
  const parts = address ? address.pathname.split('/').filter(Boolean).map(decodeSegment) : [];
  const last = parts.at(-1) ?? '';
  switch (link.kind) {
    case 'pull_request':
      return /^\d+$/.test(last) ? `#${last}` : last || link.url;
    case 'commit':
      return /^[0-9a-f]{7,64}$/i.test(last) ? shortenCommit(last) : last || link.url;
    case 'branch': {
      // GitHub: /owner/name/tree/BRANCH; GitLab: /owner/name/-/tree/BRANCH; Gitea: /owner/name/src/branch/BRANCH
      const marker = parts.findIndex(
        (part, index) => part === 'tree' || (part === 'branch' && parts[index - 1] === 'src'),
      );
      return (marker >= 0 && parts.slice(marker + 1).join('/')) || last || link.url;
    }
    default:
      return address?.host || link.url;
  }
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

const GOOD = /^(merged|passed|passing|success|successful|succeeded|ready|deployed|approved)$/i;
const BAD = /^(failed|failing|failure|error|broken|rejected)$/i;

/** The tone of a link's state. */
export function toneOf(state: string | null): 'good' | 'bad' | 'neutral' {
  if (state && GOOD.test(state)) return 'good';
  return state && BAD.test(state) ? 'bad' : 'neutral';
}

/** Describe the repository that an agent works in: "main · 3f2a91c · git.example/shop". */
export function describeRepository({ branch, commit, remote }: WorkRepository): string {
  const address = remote
    ?.replace(/^\w+:\/\//, '')
    .replace(/^[^@/]*@/, '')
    .replace(/\.git$/, '');
  return [branch, commit && shortenCommit(commit), address].filter(Boolean).join(' · ');
}
