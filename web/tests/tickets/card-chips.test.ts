import { expect, test } from 'vitest';
import type { CaptureSummary, Ticket, Verdict } from '../../generated/api';
import { chooseChips } from '../../src/app/tickets/board/card/card-chips';
import { listFields } from '../../src/app/tickets/fields';
import { ticket } from './tickets';

const fields = listFields('board');

function failing(errors: number, failed_requests: number): Partial<Ticket> {
  return { capture: { counts: { errors, failed_requests } } as CaptureSummary };
}

function buildFix(verdict: Verdict, proven = verdict === 'gone'): Partial<Ticket> {
  return {
    verification: { verdict, proven, commit: 'abcdef1' },
    pull_request: { name: '#316', url: 'https://git.example/pull/316' },
  };
}

const everything = { ...failing(5, 2), ...buildFix('flaky'), resolved: true, comment_count: 4 };

test.each<[string, Partial<Ticket>, string[]]>([
  ['nothing', {}, []],
  [
    'evidence first, no more than three chips, and the facts',
    everything,
    ['errors', 'failed', 'verdict', 'pull_request', 'comments'],
  ],
  ['facts after few chips', { ...failing(1, 0), comment_count: 4 }, ['errors', 'comments']],
  [
    'a bug that is gone has no errors',
    { ...failing(5, 2), ...buildFix('gone') },
    ['verdict', 'pull_request'],
  ],
  [
    'errors while nothing proves that the bug is gone',
    { ...failing(5, 0), ...buildFix('gone', false) },
    ['errors', 'verdict', 'pull_request'],
  ],
  ['errors and no reproduction', { ...failing(5, 0), ...buildFix('reproduced') }, ['errors', 'pull_request']],
  ['criteria', { criteria_count: { met: 2, total: 3 } }, ['criteria']],
  ['a capture without failures', failing(0, 0), ['capture']],
])('%s', (_, given, expected) => {
  expect(chooseChips(ticket('t', given), 'doing', fields, false).chips).toEqual(expected);
});

test('no chip for a capture with a picture', () => {
  expect(chooseChips(ticket('t', failing(0, 0)), 'todo', fields, true).chips).toEqual([]);
});

test('labels get the room that is left', () => {
  expect(chooseChips(ticket('t', failing(5, 2)), 'todo', fields, true).maxLabels).toBe(1);
});

test('the display menu decides, and errors are back if verifications are hidden', () => {
  const few = fields.filter((each) => each !== 'verification' && each !== 'pull_request');
  const chips = chooseChips(ticket('t', { ...failing(5, 2), ...buildFix('gone') }), 'done', few, true).chips;
  expect(chips).toEqual(['errors', 'failed']);
});

test('done tickets need no chip that says resolved', () => {
  const resolved = ticket('t', { resolved: true });
  expect(chooseChips(resolved, 'todo', fields, true).chips).toEqual(['resolved']);
  expect(chooseChips(resolved, 'done', fields, true).chips).toEqual([]);
});
