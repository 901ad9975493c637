import type { Step } from '../../../generated/api';

/** Steps as a numbered list, in Markdown. */
export function formatSteps(steps: Step[]): string {
  return steps.map(({ number, words }) => `${number}. ${words}`).join('\n');
}

/** Whether a step says little about what the person did. */
export function isMinorStep({ kind, synthetic }: Step): boolean {
  return ['scroll', 'visibility', 'resize'].includes(kind) || Boolean(synthetic);
}
