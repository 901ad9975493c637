import { expect, test } from 'vitest';
import type { SecurityEvent } from '../../generated/api';
import { describeSecurityEvent, describeSource } from '../../src/app/accounts/security/security-events';

const EVENT: SecurityEvent = {
  id: 'sec_000000000001',
  action: 'sign_in',
  outcome: 'done',
  via: 'web',
  address: '203.0.113.7',
  user_agent: null,
  data: {},
  count: 1,
  at: '2026-11-22T09:30:00.000Z',
};

const withData = (data: Record<string, unknown>) => ({ data: data as SecurityEvent['data'] });

test('an event says what happened, to what and how often', () => {
  expect(describeSecurityEvent(EVENT)).toBe('Signed in');
  expect(describeSecurityEvent({ ...EVENT, ...withData({ new_device: true }) })).toBe(
    'Signed in with a new browser',
  );
  expect(describeSecurityEvent({ ...EVENT, outcome: 'failed', count: 3 })).toBe(
    'Sign-in refused: wrong password (3 times)',
  );
  expect(
    describeSecurityEvent({ ...EVENT, action: 'token_create', ...withData({ label: 'my agent' }) }),
  ).toBe('Created a token “my agent”');
  expect(
    describeSecurityEvent({ ...EVENT, action: 'address_change', ...withData({ from: 'a@x', to: 'b@x' }) }),
  ).toBe('Changed the email address to b@x');
  expect(describeSecurityEvent({ ...EVENT, action: 'later' as SecurityEvent['action'] })).toBe('later');
});

test('an event says where it came from', () => {
  expect(describeSource(EVENT)).toBe('203.0.113.7');
  expect(describeSource({ ...EVENT, via: 'cli', address: null })).toBe('by the operator of the server');
  expect(describeSource({ ...EVENT, address: null })).toBe('Unknown address');
});
