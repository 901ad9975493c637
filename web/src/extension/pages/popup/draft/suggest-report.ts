/** The first draft of a report: its title and its steps, from what the person did and what went wrong. */
import { describeAction, nameElement } from '../../../../recorder/actions/describe-action';
import type { ActionEntry, ErrorEntry } from '../../../../recorder/capture-types';
import { describeExpectation } from '../../../../recorder/pointing/expectation';
import { isSameFailure, nameError } from '../../../../shared/failures';
import { listFailures } from '../../../draft/choose-bug';
import type { Suggestion } from '../../../draft/report-fields';
import type { Draft } from '../../../storage';

const MAX_STEPS = 20;
const MAX_TITLE = 120;
/** What says little about how to see the bug again. */
const MINOR = new Set<ActionEntry['kind']>(['scroll', 'resize', 'visibility']);
const [CAUSED_MS, LED_MS] = [500, 5_000];
const VERBS: Partial<Record<ActionEntry['kind'], string>> = {
  click: 'clicking',
  input: 'typing into',
  change: 'changing',
  submit: 'submitting',
  drag: 'dragging',
  hover: 'hovering over',
};

/**
 * Suggest a title and the steps to reproduce. The title is what the person pointed at, else the failure that a step led
 * to, else the page's.
 */
export function suggestReport(draft: Draft): Suggestion {
  const { envelope, streams } = draft;
  const steps = selectSteps(streams.actions);
  const [expected] = draft.expectations ?? [];
  const title = expected
    ? clipTitle(describeExpectation(expected))
    : envelope.page.title.trim() || envelope.page.url;
  if (!steps.some(({ kind }) => kind !== 'navigate')) return { title, steps: [] };
  const failure = expected ? undefined : findMainFailure(draft);
  return {
    title: failure ? composeTitle(failure, steps) : title,
    steps: steps.map(describeAction),
  };
}

/** What the suggested steps come from: "from your last 18 seconds". */
export function describeStepsOrigin({ envelope, streams }: Draft): string {
  const first = selectSteps(streams.actions)[0];
  if (!first) return '';
  const seconds = Math.max(1, Math.round((Number(envelope.captured_at) - first.ts) / 1000));
  const [number, unit] = seconds < 100 ? [seconds, 'second'] : [Math.round(seconds / 60), 'minute'];
  return number === 1 ? `from your last ${unit}` : `from your last ${number} ${unit}s`;
}

/** The error that the report is about: the chosen one; while no failure is chosen, the newest uncaught error. */
export function findMainError({
  streams: { errors },
  bug,
}: Pick<Draft, 'streams' | 'bug'>): ErrorEntry | undefined {
  return errors.findLast((each) => (bug ? isSameFailure(nameError(each), bug) : nameError(each)));
}

/** The failure that the report is about: in a word or two, in a line, and when it happened. */
function findMainFailure(draft: Draft): { what: string; line: string; ts: number } | undefined {
  const error = findMainError(draft);
  if (error) {
    const what = error.name || error.message.replace(/^Uncaught /, '');
    return { what, line: `${what}: ${error.message}`, ts: error.ts };
  }
  const { shown, others } = listFailures(draft.streams);
  const chosen = [...shown, ...others].find((each) => isSameFailure(each, draft.bug));
  return chosen && { what: chosen.text, line: chosen.text, ts: chosen.ts };
}

/** The newest steps that a person did, without those that the browser does for another one. */
function selectSteps(actions: ActionEntry[]): ActionEntry[] {
  const steps = actions.filter(({ kind, synthetic }) => !synthetic && !MINOR.has(kind));
  return steps.filter((step, index) => !isConsequence(step, steps[index - 1])).slice(-MAX_STEPS);
}

/** Whether a step follows from the one before: a form that a button submits, a button that Enter presses, a page. */
function isConsequence(step: ActionEntry, previous: ActionEntry | undefined): boolean {
  if (!previous) return false;
  const isAct = previous.kind === 'click' || previous.kind === 'key' || previous.kind === 'submit';
  if (step.kind === 'navigate' && isAct && !step.value_kind) return step.ts - previous.ts <= LED_MS;
  if (step.ts - previous.ts > CAUSED_MS) return false;
  if (step.kind === 'submit') return previous.kind === 'click' || previous.kind === 'key';
  return step.kind === 'click' && previous.kind === 'key' && previous.key === 'Enter';
}

function composeTitle(failure: { what: string; line: string; ts: number }, steps: ActionEntry[]): string {
  const cause = steps.findLast(
    ({ ts, kind }) => ts <= failure.ts && kind !== 'navigate' && kind !== 'dialog',
  );
  return clipTitle(cause ? `${failure.what} after ${describeCause(cause)}` : failure.line);
}

function clipTitle(title: string): string {
  return title.length <= MAX_TITLE ? title : `${title.slice(0, MAX_TITLE - 1)}…`;
}

function describeCause({ kind, target, key, value_kind: value }: ActionEntry): string {
  if (value === 'private') return 'typing into a private field';
  const name = target?.name || target?.text;
  const place = name ? `“${name}”` : nameElement(target);
  return kind === 'key' ? `pressing ${key}${target ? ` in ${place}` : ''}` : `${VERBS[kind]} ${place}`;
}
