import { expect, test } from 'vitest';
import type { Verdict, Verification } from '../../generated/api';
import {
  chooseSides,
  describeVerification,
  describeRounds,
  readVerdict,
  writeCommand,
} from '../../src/app/tickets/verifications/verifications';

function run(id: string, verdict: Verdict): Verification {
  return { id, verdict } as Verification;
}

const reproduced = run('1', 'reproduced');
const flaky = run('2', 'flaky');
const gone = run('3', 'gone');

test('the newest reproduction and the newest run after it are side by side', () => {
  expect(chooseSides([gone, flaky, reproduced])).toEqual({ before: reproduced, after: gone, rest: [flaky] });
});

test('a run before the newest reproduction is no result of a fix', () => {
  expect(chooseSides([reproduced, gone])).toEqual({ before: reproduced, after: null, rest: [gone] });
});

test('without a reproduction there is only the newest run', () => {
  expect(chooseSides([gone, flaky])).toEqual({ before: null, after: gone, rest: [flaky] });
  expect(chooseSides([])).toEqual({ before: null, after: null, rest: [] });
});

test('the heading says in how many rounds the verdict was the same', () => {
  expect(describeRounds({ verdict: 'gone', rounds: 3 })).toBe(' in 3 of 3 rounds');
  expect(describeRounds({ verdict: 'gone', rounds: 1 })).toBe('');
  expect(describeRounds({ verdict: 'flaky', rounds: 3 })).toBe('');
});

test('the command runs where the last one ran, and quotes what a shell would change', () => {
  const write = (base_url: string) => writeCommand('WEB-42', { base_url });
  expect(write('http://localhost:3000')).toBe('ticketbox verify WEB-42 --base-url http://localhost:3000');
  expect(write("http://a.example/?b='c'&d")).toBe(
    "ticketbox verify WEB-42 --base-url 'http://a.example/?b=%27c%27&d'",
  );
});

test('the history names verdict and commit', () => {
  const describe = (verdict: Verdict, proven = false, reason: string | null = null) =>
    describeVerification({ verdict, proven, reason, commit: 'a'.repeat(40) });
  expect(describe('gone', true)).toBe('verified that the bug is gone on aaaaaaa');
  expect(describe('reproduced')).toBe('reproduced the bug on aaaaaaa');
  expect(describe('not_reached', false, 'no button')).toBe('didn’t reach the bug on aaaaaaa: no button');
});

test('a bug that no run has seen isn’t shown as gone', () => {
  expect(readVerdict({ verdict: 'gone', proven: false })).toBe('unproven');
  expect(readVerdict({ verdict: 'gone', proven: true })).toBe('gone');
  expect(readVerdict({ verdict: 'flaky', proven: false })).toBe('flaky');
});
