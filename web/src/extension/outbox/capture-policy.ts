import type { CapturePolicy, Environment, Expectation, RedactionCounts } from '../../recorder/capture-types';
import { listPayloads } from '../../recorder/network/payloads';
import { Redactor } from '../../recorder/redaction/redactor';
import {
  exchangeExpectation,
  listComputed,
  listNumbers,
  shapeWithStandIns,
  type Figures,
} from '../../recorder/redaction/stand-ins';
import type { StoredValues } from '../../recorder/redaction/storage-shape';
import { removeOriginals } from '../draft/originals';
import type { Draft, Part } from '../storage';
import { addCounts } from '../tab-recording/tab-history';

/** What a project doesn't store. */
export function listRefused({ actions, replay, page_source_maps: maps }: CapturePolicy): Part[] {
  return [
    ...(actions === 'off' ? ['actions' as const] : []),
    ...(replay === 0 ? ['replay' as const] : []),
    ...(maps === 'off' ? ['source_maps' as const] : []),
  ];
}

function applyStoragePolicy(environment: Environment, policy: CapturePolicy['storage'] | undefined): void {
  if (policy === 'off') delete environment.storage;
  if (policy === 'shape') return;
  const forget = (values: StoredValues = {}) =>
    Object.fromEntries(Object.keys(values).map((name) => [name, null]));
  for (const start of environment.storage?.start ?? [])
    Object.assign(start, { local: forget(start.local), session: forget(start.session) });
}

/** Numbers that a person pointed at and the page computed, and the answers that it may have computed them from. */
export interface ComputedNumbers {
  numbers: string[];
  answers: Figures[];
}

/** What the project's test can't know unless answers keep their numbers; null if it knows all. */
export function findComputed(
  { expectations = [], streams }: Draft,
  { bodies }: CapturePolicy,
): ComputedNumbers | null {
  if (bodies !== 'shape' || !expectations.length) return null;
  const standIns = shapeWithStandIns(structuredClone(streams.network));
  const numbers = new Set(expectations.flatMap((each) => listComputed(each, standIns)));
  if (!numbers.size) return null;
  const last = Math.max(...expectations.map(({ at }) => at ?? Infinity));
  return { numbers: [...numbers], answers: listNumbers(streams.network, last) };
}

/** Remove from a capture what the policy of its project excludes. The draft is changed in place. */
export function applyPolicy(draft: Draft, policy: CapturePolicy): void {
  if (policy.bodies === 'off')
    for (const entry of draft.streams.network)
      for (const side of listPayloads(entry))
        if (side?.body != null) [side.body, side.omitted_reason] = [null, 'policy'];
  if (policy.actions === 'off') {
    draft.streams.actions = [];
    draft.envelope.health.actions = { status: 'disabled', reason: 'policy', captured: 0, dropped: 0 };
  }
  if (policy.replay === 0) {
    delete draft.replay;
    draft.envelope.health.replay = { status: 'disabled', reason: 'policy', captured: 0, dropped: 0 };
  }
  if (policy.page_source_maps === 'off') Object.assign(draft, removeOriginals(draft));
  applyStoragePolicy(draft.envelope.environment, policy.storage);
  const redactor = new Redactor(policy.extra_redactions);
  redactor.redactStreams(draft.streams);
  if (policy.bodies === 'shape') {
    const standIns = shapeWithStandIns(draft.streams.network, draft.keptNumbers);
    const exchange = (each: Expectation) => exchangeExpectation(each, standIns);
    if (draft.expectations) draft.expectations = draft.expectations.map(exchange);
  }
  draft.envelope.page = redactor.redactPage(draft.envelope.page);
  draft.envelope.environment = redactor.redactEnvironment(draft.envelope.environment);
  draft.envelope.redaction = addCounts(redactor.counts, draft.envelope.redaction as RedactionCounts);
}
