import type { Step } from '../../../generated/api';

/** The steps that have a text in their words, locators or address, ignoring case. */
export function filterSteps(steps: Step[], text: string): Step[] {
  const wanted = text.trim().toLowerCase();
  return steps.filter(({ words, url, target }) =>
    [words, url ?? '', ...(target?.selectors ?? [])].some((each) => each.toLowerCase().includes(wanted)),
  );
}

/** Steps as a numbered list, in Markdown. */
export function formatSteps(steps: Step[]): string {
  return steps.map(({ number, words }) => `${number}. ${words}`).join('\n');
}

/** Whether a step says little about what the person did. */
export function isMinorStep({ kind, synthetic }: Step): boolean {
  return ['scroll', 'visibility', 'resize'].includes(kind) || Boolean(synthetic);
}
