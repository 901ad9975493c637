import { expect, test } from 'vitest';
import type { CapturePolicy } from '../../src/recorder/capture-types';
import { Redactor } from '../../src/recorder/redaction/redactor';
import { applyPolicy, listRefused } from '../../src/extension/outbox/capture-policy';
import { leaveOut } from '../../src/extension/draft/edit-draft';
import { addOriginals, listOriginals } from '../../src/extension/draft/originals';
import { PageMap } from '../../src/extension/source-maps/page-map';
import {
  listStacks,
  resolveFrames,
  type ResolvedStacks,
} from '../../src/extension/source-maps/resolve-stacks';
import type { Draft } from '../../src/extension/storage';

const APP = 'https://shop.example/app.js';
const MAP = JSON.stringify({
  version: 3,
  sources: ['cart.js'],
  names: ['total', 'pay'],
  mappings: 'AAAAA,UACAC',
});
const frame = (column: number, name = 't') => ({ url: APP, function: name, line: 1, column });
const createDraft = () =>
  ({
    id: 'one',
    envelope: {
      health: {},
      redaction: {},
      page: { url: 'https://shop.example/', title: '', referrer: null },
      environment: {},
    },
    streams: {
      console: [
        { seq: 1, level: 'log', args: [], stack: `    at t (${APP}:1:1)`, ts: 1 },
        { seq: 2, level: 'error', args: [], stack: `    at p (${APP}:1:11)`, ts: 1 },
      ],
      errors: [{ seq: 3, message: '', frames: [frame(1), frame(11, 'p')], ts: 1, kind: 'error' }],
      network: [],
      actions: [],
    },
  }) as unknown as Draft;
const policy = (page_source_maps: 'on' | 'off') =>
  ({
    bodies: 'on',
    extra_redactions: [],
    actions: 'on',
    replay: 30,
    page_source_maps,
  }) as unknown as CapturePolicy;

function resolve(draft: Draft, deadline = Infinity, redactor = new Redactor()): ResolvedStacks {
  const stacks = listStacks(draft.streams);
  const captured = resolveFrames(stacks, new Map([[APP, new PageMap(MAP)]]), deadline, redactor);
  const health = { status: 'ok', reason: null, captured, dropped: 0 } as const;
  return { draft: 'one', frames: stacks.map(({ seq, frames }) => [seq, frames]), health };
}

test('frames of errors come first, then those of warnings, then of other lines', () => {
  expect(listStacks(createDraft().streams).map(({ seq }) => seq)).toEqual([3, 2, 1]);
});

test('places are added to the entries of the draft', () => {
  const draft = addOriginals(resolve(createDraft()), createDraft())!;
  const [error] = draft.streams.errors;
  expect(error!.frames!.map(({ original }) => original)).toEqual([
    { file: 'cart.js', line: 1, column: 1, context: [] },
    { file: 'cart.js', line: 2, column: 1, context: [] },
  ]);
  expect(draft.streams.console.map(({ frames }) => frames!.length)).toEqual([1, 1]);
  expect(listOriginals(draft)).toEqual({ files: ['cart.js'], frames: 4 });
});

test('frames of another draft, and of entries that were removed, are dropped', () => {
  const draft = createDraft();
  expect(addOriginals({ ...resolve(createDraft()), draft: 'two' }, draft)).toBe(draft);
  draft.streams.errors = [];
  expect(listOriginals(addOriginals(resolve(createDraft()), draft)!).frames).toBe(2);
});

test('nothing is resolved after the deadline, and rules of projects apply', () => {
  expect(resolve(createDraft(), 0).health.captured).toBe(0);
  const { frames } = resolve(createDraft(), Infinity, new Redactor(['text:cart']));
  expect(JSON.stringify(frames)).not.toContain('cart');
});

test('a person and a project leave the places out', () => {
  const draft = addOriginals(resolve(createDraft()), createDraft())!;
  const removed = leaveOut(draft, ['source_maps']);
  expect(listOriginals(removed).frames).toBe(0);
  expect(removed.streams.errors[0]!.frames).toEqual([frame(1), frame(11, 'p')]);
  expect(removed.envelope.health.source_maps).toBeUndefined();
  expect(listRefused(policy('on'))).toEqual([]);
  expect(listRefused(policy('off'))).toEqual(['source_maps']);
  const sent = structuredClone(draft);
  applyPolicy(sent, policy('off'));
  expect(listOriginals(sent).frames).toBe(0);
  expect(sent.envelope.health.source_maps).toBeUndefined();
});
