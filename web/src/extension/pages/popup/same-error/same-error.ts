/** The ticket that already has the error of a report, so that the same bug doesn't become two tickets. */
import type { SimilarTicket } from '../../../../../generated/api';
import type { Project } from '../../../../recorder/capture-types';
import { Redactor } from '../../../../recorder/redaction/redactor';
import { callApi } from '../../../connection/api';
import type { Draft } from '../../../storage';
import { findMainError } from '../draft/suggest-report';

/** How long a report waits for the answer. */
const TIMEOUT_MS = 4_000;
const MAX_ERROR = 500;

/** List the tickets with the report's error or page. Archived tickets are included. Raises ApiError. */
export async function findSimilar(draft: Draft, rules: Project | undefined): Promise<SimilarTicket[]> {
  const query = new URLSearchParams({ limit: '3', status: 'all' });
  const error = describeError(draft, rules);
  if (draft.envelope.page.url) query.set('url', draft.envelope.page.url);
  if (error) query.set('error', error);
  return (await callApi<{ items: SimilarTicket[] }>(`/similar?${query}`)).items;
}

/** The newest ticket with the report's error; none if the server doesn't answer in time. */
export async function findSameError(
  draft: Draft,
  projects: Project[],
  rules: Project | undefined,
): Promise<SimilarTicket | undefined> {
  const error = describeError(draft, rules);
  if (!error) return undefined;
  const query = new URLSearchParams({ limit: '10', status: 'active', error });
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const { items } = await callApi<{ items: SimilarTicket[] }>(`/similar?${query}`, { signal }).catch(() => ({
    items: [],
  }));
  return items.find((each) => hasSameError(each) && canAddTo(each, projects));
}

function hasSameError({ reasons }: SimilarTicket): boolean {
  return reasons.some(({ similarity }) => similarity === 'same_error' || similarity === 'same_message');
}

/** Whether a capture can be added to a ticket: the policy of its project has to be known first. */
export function canAddTo({ status, project_id }: SimilarTicket, projects: Project[]): boolean {
  return status === 'active' && projects.some(({ id }) => id === project_id);
}

/** The first line of the main error, without secrets and what the project's own rules redact. */
function describeError(draft: Draft, rules: Project | undefined): string {
  const { name, message } = findMainError(draft) ?? { name: '', message: '' };
  const line = [name, message].filter(Boolean).join(': ').split('\n')[0]!;
  return new Redactor(rules?.capture_policy.extra_redactions).redactText(line).slice(0, MAX_ERROR);
}
