import type { Project } from '../../recorder/capture-types';
import { sendToBackground } from '../background/messages';
import type { ResolvedStacks } from '../source-maps/resolve-stacks';
import type { Draft } from '../storage';

/** Have the background resolve the stacks of a stored draft, if its project wants that and it isn't done. */
export async function requestOriginals(
  draft: Draft,
  project: Project | undefined,
): Promise<ResolvedStacks | null> {
  if (project?.capture_policy.page_source_maps !== 'on' || draft.envelope.health.source_maps) return null;
  return sendToBackground({ kind: 'resolve-stacks', draft: draft.id }).catch(() => null);
}
