/** What is suggested and what a person entered, in the form of the report. */
import type { ReportFields } from '../storage';

export type Suggestion = Pick<ReportFields, 'title' | 'steps'>;

/** The fields without what was only suggested; the next capture suggests something else. */
export function dropSuggestions(fields: ReportFields, suggested: Suggestion): ReportFields {
  return followSuggestions(fields, suggested, { title: '', steps: [] });
}

/** The fields with what is suggested where the person entered nothing. */
export function fillWithSuggestions(fields: ReportFields, suggested: Suggestion): ReportFields {
  return followSuggestions(fields, { title: '', steps: [] }, suggested);
}

/** The fields with the next suggestion where they still have the one before. */
export function followSuggestions(fields: ReportFields, before: Suggestion, next: Suggestion): ReportFields {
  const isUnchanged = fields.steps.join('\n') === before.steps.join('\n');
  return {
    ...fields,
    title: fields.title === before.title ? next.title : fields.title,
    steps: isUnchanged ? next.steps : fields.steps,
  };
}

/** The ticket's description: what the person wrote, and the steps as a numbered list. */
export function composeDescription({ description, steps }: ReportFields): string {
  const written = description.trim();
  const list = steps
    .map((step) => step.trim())
    .filter(Boolean)
    .map((step, index) => `${index + 1}. ${step}`)
    .join('\n');
  return written && list ? `${written}\n\n**Steps to reproduce**\n\n${list}` : written || list;
}
