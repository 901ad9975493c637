import type { Verdict, Verification } from '../../../../generated/api';
import { shortenCommit } from '../git/commits';

type Tone = 'error' | 'ok' | 'warn';
/** What is said of a run: its verdict, and whether an earlier run saw the bug that is gone. */
export type Result = Pick<Verification, 'verdict' | 'proven'>;

/** How each verdict reads, what it says, and its colour. */
export const VERDICTS: Record<Verdict, { label: string; about: string; tone: Tone }> = {
  reproduced: { label: 'Reproduced', about: 'The bug happened again', tone: 'error' },
  gone: { label: 'Gone', about: 'The bug didn’t happen again', tone: 'ok' },
  unproven: {
    label: 'Unproven',
    about: 'No earlier run saw the bug, so this one proves nothing',
    tone: 'warn',
  },
  different_error: { label: 'Different error', about: 'A different error happened', tone: 'warn' },
  not_reached: { label: 'Not reached', about: 'The run didn’t reach the bug', tone: 'warn' },
  flaky: { label: 'Flaky', about: 'The rounds had different results', tone: 'warn' },
};

/** The verdict to show: that a bug is gone says nothing while no earlier run saw it. */
export function readVerdict({ verdict, proven }: Result): Verdict {
  return verdict === 'gone' && !proven ? 'unproven' : verdict;
}

interface Sides {
  /** The newest run that saw the bug. */
  before: Verification | null;
  /** The newest run, if it came after that. */
  after: Verification | null;
  rest: Verification[];
}

/** Choose what is shown side by side from a ticket's verifications, newest first. */
export function chooseSides(newestFirst: Verification[]): Sides {
  const before = newestFirst.find(({ verdict }) => verdict === 'reproduced') ?? null;
  const newest = newestFirst[0] ?? null;
  const after = newest === before ? null : newest;
  return { before, after, rest: newestFirst.filter((each) => each !== before && each !== after) };
}

/** In how many rounds the verdict was the same: " in 3 of 3 rounds". Empty for one round, and if they differed. */
export function describeRounds({ verdict, rounds }: Pick<Verification, 'verdict' | 'rounds'>): string {
  return rounds === 1 || verdict === 'flaky' ? '' : ` in ${rounds} of ${rounds} rounds`;
}

/** The command that runs a ticket's reproduction again where it ran last. */
export function writeCommand(key: string, { base_url }: Pick<Verification, 'base_url'>): string {
  const isPlain = /^[\w@%+=:,./-]+$/.test(base_url);
  const address = isPlain ? base_url : `'${base_url.replaceAll("'", '%27')}'`;
  return `ticketbox verify ${key} --base-url ${address}`;
}

/** Describe a verification as the rest of a sentence that begins with a name. */
export function describeVerification(run: Result & Pick<Verification, 'commit' | 'reason'>): string {
  const words = nameResult(readVerdict(run), `on ${shortenCommit(run.commit)}`);
  return run.reason ? `${words}: ${run.reason}` : words;
}

function nameResult(verdict: Verdict, at: string): string {
  switch (verdict) {
    case 'reproduced':
      return `reproduced the bug ${at}`;
    case 'gone':
      return `verified that the bug is gone ${at}`;
    case 'different_error':
      return `got a different error ${at}`;
    case 'not_reached':
      return `didn’t reach the bug ${at}`;
    case 'unproven':
      return `didn’t see the bug ${at}, which proves nothing`;
    case 'flaky':
      return `got different results ${at}`;
    default:
      return `verified ${at}`;
  }
}
