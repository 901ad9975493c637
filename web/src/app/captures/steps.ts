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
