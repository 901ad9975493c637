import { describe, expect, test } from 'vitest';
import type { By, Claim, WorkQuestion, WorkSession } from '../../generated/api';
import {
  currentStep,
  describeAsked,
  describeBriefly,
  describePlan,
  describeRepository,
  describeState,
  findOpenQuestion,
  findSession,
  formatDuration,
  formatSince,
  formatUsage,
  hasOutcome,
  isAgent,
  isSilent,
  measureProgress,
  nameChoice,
  nameLink,
  nameWorker,
  toneOf,
} from '../../src/app/tickets/work/work';

const NOW = Date.parse('2026-06-15T12:00:00Z');
const at = (secondsAgo: number) => new Date(NOW - secondsAgo * 1000).toISOString();
const BY = { user: { id: 'ann', name: 'Ann' }, token_label: 'Claude Code', via: 'mcp', at: at(840) } as By;
const SESSION: WorkSession = {
  id: 'wrk_1',
  ticket: {
    id: 't-1',
    key: 'WEB-1',
    url: 'http://x/tickets/t-1',
    title: 'A ticket',
    project_id: 'proj_1',
    company_id: 'co_1',
  },
  until: at(-3600),
  by: BY,
  run: null,
  state: 'active',
  note: null,
  plan: [],
  links: [],
  usage: null,
  repository: null,
  started: at(840),
  last_seen: at(6),
  ended: null,
  question: null,
};
/** A question or request, answered or not. */
const ask = (kind: WorkQuestion['kind'], answer: string | null = null) => ({ kind, answer }) as WorkQuestion;
const CLAIM = { by: BY, until: at(-3600), run: null, session_id: 'wrk_1', state: 'active' } as Claim;

test('a question says when it was asked, and at which step', () => {
  const question = { asked: { ...BY, at: at(240) } } as WorkQuestion;
  const plan = (['done', 'dropped', 'done', 'active', 'pending', 'pending'] as const).map((state) => ({
    text: state,
    state,
  }));
  expect(describeAsked(question, plan, NOW)).toBe('Asked 4 min ago · step 3 of 5');
  expect(describeAsked(question, plan.slice(0, 3), NOW)).toBe('Asked 4 min ago');
  expect(describeAsked(question, [], NOW)).toBe('Asked 4 min ago');
});

test.each([
  [-5_000, '0 s'],
  [6_900, '6 s'],
  [60_000, '1 min'],
  [840_000, '14 min'],
  [3_600_000, '1 h'],
  [7_500_000, '2 h 5 min'],
  [86_400_000 * 3, '3 d'],
])('formatDuration(%d)', (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});

test('a claim alone shows who works, without a sign of life', () => {
  const session = findSession({ claim: CLAIM })!;
  expect(describeState(session, NOW)).toBe('Working');
  expect(isSilent(session, NOW + 3_600_000)).toBe(false);
});

test('formatSince never reads as the future', () => {
  expect([formatSince(at(6), NOW), formatSince(at(-30), NOW)]).toEqual(['6 s ago', '0 s ago']);
});

test('a worker is named by the token, a person by their name', () => {
  expect([isAgent(BY), nameWorker(BY)]).toEqual([true, 'Claude Code']);
  const person = { ...BY, token_label: null };
  expect([isAgent(person), nameWorker(person)]).toEqual([false, 'Ann']);
});

describe('an agent without a sign of life for five minutes', () => {
  test.each([
    ['active', 299, false],
    ['active', 300, true],
    ['awaiting_input', 3_000, false],
    ['done', 3_000, false],
    ['stale', 10, true],
  ] as const)('%s, %d s: %s', (state, seconds, silent) => {
    expect(isSilent({ state, last_seen: at(seconds), question: null }, NOW)).toBe(silent);
  });
});

test.each([
  ['active', 6, 'Working · last seen 6 s ago'],
  ['active', 540, 'Stopped responding 9 min ago'],
  ['stale', 540, 'Stopped responding 9 min ago'],
  ['awaiting_input', 540, 'Waiting · last seen 9 min ago'],
  ['done', 120, 'Finished 2 min ago'],
] as const)('describeState %s', (state, seconds, text) => {
  expect(describeState({ state, last_seen: at(seconds), question: ask('question') }, NOW)).toBe(text);
});

test.each([
  [null, 'Plan is missing'],
  [ask('plan'), 'Plan to approve'],
  [ask('plan', 'declined'), 'Plan was declined'],
  [ask('done'), 'Work to accept'],
])('a session that waits for a person says what for', (question, text) => {
  const session = { ...SESSION, state: 'awaiting_input' as const, question };
  expect([describeState(session, NOW), describeBriefly(session, NOW)]).toEqual([
    `${text} · last seen 6 s ago`,
    text,
  ]);
});

test('a decision is shown in its own words', () => {
  const names = (['question', 'plan', 'done'] as const).map((kind) => nameChoice({ kind }, 'approved'));
  expect(names).toEqual(['approved', 'Approve plan', 'Accept']);
});

test('a plan in one line is its current step and how far it is', () => {
  const done = { text: 'Find the cause', state: 'done' as const };
  expect(describePlan([])).toBe('Work session');
  expect(describePlan([done, { text: 'Run tests', state: 'active' }])).toBe('Run tests · 1 of 2 steps done');
  expect(describePlan([done, { text: 'Write docs', state: 'dropped' }])).toBe('Plan · 1 of 1 steps done');
});

test('a card says what the agent does and since when', () => {
  const plan = [{ text: 'Run tests', state: 'active' as const }];
  expect(describeBriefly(findSession({ claim: CLAIM })!, NOW)).toBe('For 14 min');
  expect(describeBriefly({ ...SESSION, state: 'awaiting_input', question: ask('question') }, NOW)).toBe(
    'Has a question',
  );
  expect(describeBriefly({ ...SESSION, note: 'Looking' }, NOW)).toBe('Looking · 6 s ago');
  expect(describeBriefly({ ...SESSION, note: 'Looking', plan }, NOW)).toBe('Run tests · 6 s ago');
  expect(describeBriefly({ ...SESSION, last_seen: at(540), plan }, NOW)).toBe('Stopped responding 9 min ago');
});

test('dropped steps count neither as done nor as open', () => {
  const plan = (['done', 'dropped', 'active', 'pending'] as const).map((state) => ({ text: state, state }));
  expect(measureProgress(plan)).toEqual({ done: 1, total: 3 });
  expect(currentStep(plan)?.text).toBe('active');
  expect(currentStep([])).toBeUndefined();
});

test.each([
  [null, ''],
  [{ input_tokens: null, output_tokens: null, cost_usd: null }, ''],
  [{ input_tokens: 400_000, output_tokens: 12_300, cost_usd: 1.836 }, '412k tokens · $1.84'],
  [{ input_tokens: 1, output_tokens: null, cost_usd: null }, '1 token'],
  [{ input_tokens: 999_600, output_tokens: 0, cost_usd: null }, '1.0M tokens'],
  [{ input_tokens: null, output_tokens: null, cost_usd: 0 }, '$0.00'],
])('formatUsage(%o)', (usage, text) => {
  expect(formatUsage(usage)).toBe(text);
});

test.each([
  ['pull_request', 'https://git.example/shop/pulls/318', '#318'],
  ['pull_request', 'https://git.example/shop/pulls/new', 'new'],
  ['commit', 'https://git.example/shop/commit/3f9a1c25d0c4b9', '3f9a1c2'],
  ['branch', 'https://github.com/o/n/tree/fix/empty-cart', 'fix/empty-cart'],
  ['branch', 'https://git.example/o/n/src/branch/fix/empty-cart', 'fix/empty-cart'],
  ['branch', 'https://git.example/o/n/%E0%A4%A', '%E0%A4%A'],
  ['preview', 'https://pr-318.shop.example/cart', 'pr-318.shop.example'],
  ['preview', 'not an address', 'not an address'],
] as const)('nameLink %s %s', (kind, url, text) => {
  expect(nameLink({ kind, url, state: null })).toBe(text);
});

test('states of links have a tone', () => {
  expect(['merged', 'Passing', 'failed', 'open', null].map(toneOf)).toEqual([
    'good',
    'good',
    'bad',
    'neutral',
    'neutral',
  ]);
});

test('the loaded session counts only if it holds the claim', () => {
  expect(findSession({ claim: CLAIM }, SESSION)).toBe(SESSION);
  expect(findSession({ claim: CLAIM }, { ...SESSION, id: 'wrk_0' })?.last_seen).toBeNull();
  expect(findSession({ claim: null }, SESSION)).toBeNull();
  expect(findSession({ claim: { ...CLAIM, by: { ...BY, token_label: null } } }, SESSION)).toBeNull();
});

test('a question is open until it is answered or the work ends', () => {
  const question = { id: 'qst_1', question: 'Why?', choices: [], answer: null } as unknown as WorkQuestion;
  expect(findOpenQuestion({ ...SESSION, question })).toBe(question);
  expect(findOpenQuestion({ ...SESSION, question: { ...question, answer: 'So' } })).toBeNull();
  expect(findOpenQuestion({ ...SESSION, question, ended: BY })).toBeNull();
  expect(findOpenQuestion(SESSION)).toBeNull();
});

test('an ended session is shown if it left something', () => {
  const ended = { ...SESSION, state: 'done' as const, ended: BY };
  expect(hasOutcome(ended)).toBe(false);
  expect(hasOutcome({ ...ended, note: 'Fixed' })).toBe(true);
  expect(hasOutcome({ ...ended, state: 'stale' })).toBe(true);
  expect(hasOutcome({ ...ended, state: 'stale', by: { ...BY, token_label: null } })).toBe(false);
});

test('repository is shown by branch, short commit and the address of its remote', () => {
  const commit = '3f2a91c0d5e84b6f7a1c2d3e4f5061728394a5b6';
  const https = { branch: 'main', commit, remote: 'https://git.example/shop/web.git' };
  expect(describeRepository(https)).toBe('main · 3f2a91c · git.example/shop/web');
  expect(describeRepository({ ...https, remote: 'git@git.example:shop.git' })).toBe(
    'main · 3f2a91c · git.example:shop',
  );
  expect(describeRepository({ branch: null, commit, remote: null })).toBe('3f2a91c');
  expect(findSession({ claim: { ...CLAIM, repository: https } })?.repository).toEqual(https);
});
