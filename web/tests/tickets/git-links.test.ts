import { expect, test } from 'vitest';
import type { GitLink } from '../../generated/api';
import { nameBranch } from '../../src/app/tickets/git/branch-names';
import {
  describeGitEvent,
  describeGitLink,
  findGitLink,
  nameOutcome,
} from '../../src/app/tickets/git/git-links';

test('a link says what it is, its state and its checks', () => {
  expect(describeGitLink({ kind: 'pull_request', state: 'open', checks: 'failing' })).toBe(
    'pull request, open, checks fail',
  );
  expect(describeGitLink({ kind: 'pull_request', state: 'merged', checks: 'passing' })).toBe(
    'pull request, merged, checks pass',
  );
  expect(describeGitLink({ kind: 'branch', state: 'open', checks: 'pending' })).toBe('branch, checks run');
  expect(describeGitLink({ kind: 'branch', state: 'closed', checks: null })).toBe('branch, deleted');
  expect(describeGitLink({ kind: 'commit', state: null, checks: null })).toBe('commit');
  expect(describeGitLink({ kind: 'commit', state: 'merged', checks: null })).toBe(
    'commit, in the default branch',
  );
});

test('what an agent reports is found among the links of git hooks', () => {
  const links = [{ url: 'https://git.example/pull/7', title: 'Keep the cart' }] as GitLink[];
  expect(findGitLink(links, 'https://git.example/pull/7/')?.title).toBe('Keep the cart');
  expect(findGitLink(links, 'https://git.example/pull/71')).toBeUndefined();
});

test('a pull request shows its checks while it is open, then how it ended', () => {
  expect(nameOutcome({ state: 'open', checks: 'passing', check_count: null })?.label).toBe('Checks pass');
  expect(nameOutcome({ state: 'open', checks: 'passing', check_count: 12 })?.label).toBe('12 checks');
  expect(nameOutcome({ state: 'open', checks: 'passing', check_count: 1 })?.label).toBe('1 check');
  expect(nameOutcome({ state: 'open', checks: 'failing', check_count: 12 })?.tone).toBe('error');
  expect(nameOutcome({ state: 'open', checks: null, check_count: null })).toBeNull();
  expect(nameOutcome({ state: 'merged', checks: 'failing', check_count: null })?.label).toBe('Merged');
});

test('events of git hooks are sentences', () => {
  const request = { kind: 'pull_request', name: '#7', state: 'merged' };
  expect(describeGitEvent('ticket.git_linked', request)).toBe('linked pull request #7');
  expect(describeGitEvent('ticket.git_changed', request)).toBe('reported pull request #7 as merged');
  expect(describeGitEvent('ticket.git_held', request)).toBe(
    'landed pull request #7, but this project asks for more before the ticket is done',
  );
  expect(describeGitEvent('ticket.git_changed', { kind: 'branch', name: 'WEB-7', state: 'open' })).toBe(
    'reported branch WEB-7 as open',
  );
});

test('a branch is named after the key and the first whole words of the title', () => {
  expect(nameBranch({ key: 'WEB-15', title: 'Let customers continue their cart on another device' })).toBe(
    'web-15-let-customers-continue-their-cart',
  );
  expect(nameBranch({ key: 'WEB-2', title: 'Größe “Ü”: falsch!' })).toBe('web-2-gro-e-u-falsch');
  expect(nameBranch({ key: 'WEB-3', title: 'سلة فارغة' })).toBe('web-3');
});
