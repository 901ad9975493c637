import { expect, test } from 'vitest';
import { parseServerAddress, toMatchPattern } from '../../src/extension/connection/server-address';

test.each([
  ['tickets.example.org', 'https://tickets.example.org'],
  [' https://tickets.example.org/?x=1 ', 'https://tickets.example.org'],
  ['www.example.org/Tickets/', 'https://www.example.org/Tickets'],
  ['HTTP://tickets.example.org:8420', 'http://tickets.example.org:8420'],
  ['localhost:8420', 'http://localhost:8420'],
  ['127.0.0.1:8420', 'http://127.0.0.1:8420'],
  ['[::1]:8420', 'http://[::1]:8420'],
])('%s is an address', (input, address) => {
  expect(parseServerAddress(input)).toBe(address);
});

test.each(['', 'not an address', 'https://', 'https://ann:secret@tickets.example.org'])(
  '%j is not an address',
  (input) => {
    expect(parseServerAddress(input)).toBeNull();
  },
);

test('a match pattern has no port', () => {
  expect(toMatchPattern('http://127.0.0.1:8420/tickets/t-1')).toBe('http://127.0.0.1/*');
});
