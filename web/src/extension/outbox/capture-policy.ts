import type { CapturePolicy, RedactionCounts } from '../../recorder/capture-types';
import { shapeBodies } from '../../recorder/redaction/body-shape';
import { Redactor } from '../../recorder/redaction/redactor';
import type { Draft } from '../storage';
import { addCounts } from '../tab-recording/tab-history';

/** Remove from a capture what the policy of its project excludes. The draft is changed in place. */
export function applyPolicy(draft: Draft, policy: CapturePolicy): void {
  if (policy.bodies === 'off')
    for (const { request, response } of draft.streams.network)
      for (const side of [request, response])
        if (side?.body != null) [side.body, side.omitted_reason] = [null, 'policy'];
  if (policy.actions === 'off') {
    draft.streams.actions = [];
    draft.envelope.health.actions = { status: 'disabled', reason: 'policy', captured: 0, dropped: 0 };
  }
  if (policy.replay === 0) {
    delete draft.replay;
    delete draft.envelope.health.frames;
    draft.envelope.health.replay = { status: 'disabled', reason: 'policy', captured: 0, dropped: 0 };
  }
  const redactor = new Redactor(policy.extra_redactions);
  redactor.redactStreams(draft.streams);
  if (policy.bodies === 'shape') shapeBodies(draft.streams.network);
  draft.envelope.page = redactor.redactPage(draft.envelope.page);
  draft.envelope.redaction = addCounts(redactor.counts, draft.envelope.redaction as RedactionCounts);
}
