/** The first draft of a report: its title and its steps, from what the person did and what went wrong. */
import { describeAction, nameElement } from '../../../../recorder/actions/describe-action';
import type { ActionEntry, ErrorEntry, Streams } from '../../../../recorder/capture-types';
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

/** Suggest a title and the steps to reproduce. Without steps, the title is the page's. */
export function suggestReport({ envelope, streams }: Draft): Suggestion {
  const steps = selectSteps(streams.actions);
  const pageTitle = envelope.page.title.trim() || envelope.page.url;
  if (!steps.some(({ kind }) => kind !== 'navigate')) return { title: pageTitle, steps: [] };
  const error = findMainError(streams);
  return {
    title: error ? composeTitle(error, steps) : pageTitle,
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

/** The newest uncaught error: what the report is about, if there is one. */
export function findMainError({ errors }: Streams): ErrorEntry | undefined {
  return errors.findLast(({ kind }) => kind === 'error' || kind === 'unhandledrejection');
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

function composeTitle(error: ErrorEntry, steps: ActionEntry[]): string {
  const what = error.name || error.message.replace(/^Uncaught /, '');
  const cause = steps.findLast(({ ts, kind }) => ts <= error.ts && kind !== 'navigate' && kind !== 'dialog');
  const title = cause ? `${what} after ${describeCause(cause)}` : `${what}: ${error.message}`;
  return title.length <= MAX_TITLE ? title : `${title.slice(0, MAX_TITLE - 1)}…`;
}

function describeCause({ kind, target, key, value_kind: value }: ActionEntry): string {
  if (value === 'private') return 'typing into a private field';
  const name = target?.name || target?.text;
  const place = name ? `“${name}”` : nameElement(target);
  return kind === 'key' ? `pressing ${key}${target ? ` in ${place}` : ''}` : `${VERBS[kind]} ${place}`;
}
