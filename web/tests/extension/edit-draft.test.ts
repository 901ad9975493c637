import { expect, test } from 'vitest';
import {
  countEarlierEntries,
  describeEntry,
  formatSize,
  leaveOut,
  removeEarlierPages,
  removeEntry,
  removeReplay,
  removeStream,
} from '../../src/extension/draft/edit-draft';
import { listEnvironmentDetails } from '../../src/extension/draft/environment-details';
import type { Environment } from '../../src/recorder/capture-types';
import type { Draft } from '../../src/extension/storage';
import { line, request } from './frames';

const OK = (captured: number) => ({ status: 'ok', reason: null, captured, dropped: 0 }) as const;
const REMOVED = { status: 'disabled', reason: null, captured: 0, dropped: 0 };

function createDraft(): Draft {
  const network = [0, 0, 1].map((document, index) => ({ ...request(index), document }));
  const console = [{ ...line(1), document: 1 }];
  return {
    id: 'd',
    tab: 1,
    envelope: {
      health: {
        console: OK(1),
        network: OK(3),
        errors: OK(0),
        actions: OK(0),
        replay: OK(9),
        history_started_at: 5,
        page_loaded_at: 20,
      },
    },
    streams: { console, network, errors: [], actions: [] },
    earlierPages: 1,
    replay: { data: new Blob(['x']), seconds: 12 },
    screenshot: null,
  } as unknown as Draft;
}

test('one entry is removed, and counted no more', () => {
  const draft = createDraft();
  const next = removeEntry(draft, 'network', draft.streams.network[1]!);
  expect(next.streams.network).toEqual([draft.streams.network[0], draft.streams.network[2]]);
  expect(next.envelope.health.network).toEqual(OK(2));
  expect(draft.streams.network).toHaveLength(3);
});

test('a stream without entries is off', () => {
  const draft = createDraft();
  for (const next of [
    removeEntry(draft, 'console', draft.streams.console[0]!),
    removeStream(draft, 'console'),
  ]) {
    expect(next.streams.console).toEqual([]);
    expect(next.envelope.health.console).toEqual(REMOVED);
    expect(next.envelope.health.network).toEqual(OK(3));
  }
});

test('a removed replay leaves nothing but its health', () => {
  const next = removeReplay(createDraft());
  expect('replay' in next).toBe(false);
  expect(next.envelope.health.replay).toEqual(REMOVED);
});

test('without earlier pages, the capture begins with the current one', () => {
  const draft = createDraft();
  expect(countEarlierEntries(draft)).toBe(2);
  const next = removeEarlierPages(draft);
  expect(next.streams.network).toEqual([{ ...draft.streams.network[2], document: 0 }]);
  expect(next.streams.console).toHaveLength(1);
  expect(next.envelope.health).toMatchObject({ network: OK(1), history_started_at: 20 });
  expect(countEarlierEntries(next)).toBe(0);
});

test('what is left out is missing in the report, and kept in the draft', () => {
  const draft = { ...createDraft(), screenshot: new Blob(['png']), excluded: ['replay' as const] };
  const sent = leaveOut(draft, ['network', 'earlier', 'replay', 'screenshot']);
  expect(sent).toMatchObject({ screenshot: null, streams: { network: [] }, earlierPages: 0 });
  expect(sent.envelope.health).toMatchObject({ network: REMOVED, replay: REMOVED, console: OK(1) });
  expect('replay' in sent || 'excluded' in sent).toBe(false);
  expect(draft.streams.network).toHaveLength(3);
  expect(draft.replay).toBeDefined();
});

test('entries and sizes are described in one line', () => {
  const { streams } = createDraft();
  expect(describeEntry('console', streams.console[0]!)).toBe('log: 1');
  expect(describeEntry('network', streams.network[2]!)).toBe('GET https://shop.example/?2');
  expect([formatSize(1), formatSize(34_400), formatSize(1_250_000)]).toEqual(['1 kB', '35 kB', '1.3 MB']);
});

test('the environment is sent without its details', () => {
  const draft = createDraft();
  const browser = { browser: 'Chrome 156', viewport: { width: 800, height: 600 } } as Environment;
  const storage = { local: ['cart', 'theme'], session: [], cookies: [], omitted: 0 };
  draft.envelope.environment = { ...browser, declared: { fast_search: 'true' }, storage };
  expect(listEnvironmentDetails(draft.envelope.environment)).toEqual([
    ['Declared', ['fast_search: true']],
    ['Local storage', ['cart', 'theme']],
  ]);
  expect(leaveOut(draft, ['environment']).envelope.environment).toEqual(browser);
  expect(listEnvironmentDetails(browser)).toEqual([]);
});
