import { expect, test } from 'vitest';
import { countFollowing, formatTicketCount } from '../../src/app/tickets/list/count-tickets';

test('a list whose tickets are all loaded says how many', () => {
  expect(formatTicketCount(0, false, null)).toBe('0');
  expect(formatTicketCount(1_234, false, 5)).toBe('1,234');
});

test('a list of which more can be loaded says how many it has, if that is known', () => {
  expect(formatTicketCount(100, true, 5)).toBe('105');
  expect(formatTicketCount(1_100, true, null)).toBe('1,100+');
});

test('the server counts to a thousand', () => {
  expect(countFollowing(105, 100)).toBe(5);
  expect(countFollowing(99, 100)).toBe(0);
  expect(countFollowing(1_000, 100)).toBeNull();
  expect(countFollowing(undefined, 100)).toBeNull();
});
