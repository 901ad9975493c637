import { describe, expect, test } from 'vitest';
import { isDated, LocalFormat } from '../../src/app/ui/time/dates';

const now = Date.parse('2026-06-15T12:00:00Z');
const american = new LocalFormat('en-US', 'UTC');
const german = new LocalFormat('de-DE', 'UTC');
/** Without the different kinds of spaces of locale data. */
const plain = (text: string) => text.replace(/\s/g, ' ');

describe('age', () => {
  test.each([
    ['2026-06-15T11:59:30Z', 'just now'],
    ['2026-06-15T12:00:30Z', 'just now'],
    ['2026-06-15T11:55:00Z', '5 min ago'],
    ['2026-06-15T09:00:00Z', '3 h ago'],
    ['2026-06-14T11:00:00Z', 'Jun 14'],
    ['2026-06-15T13:30:00Z', 'in 1 h'],
    ['2026-06-01T12:00:00Z', 'Jun 1'],
    ['2025-06-01T12:00:00Z', 'Jun 1, 2025'],
  ])('%s', (at, text) => {
    expect(american.age(at, now)).toBe(text);
  });

  test('a date is written as the locale writes it', () => {
    expect(german.age('2026-03-01T12:00:00Z', now)).toBe('1. März');
  });
});

test('only a time that is written as a date is dated', () => {
  expect(isDated('2026-06-14T12:00:01Z', now)).toBe(false);
  expect(isDated('2026-06-14T12:00:00Z', now)).toBe(true);
});

test('the clock has 12 or 24 hours as the locale has, and the date of another day', () => {
  expect(plain(american.clock('2026-06-15T16:42:00Z', now))).toBe('4:42 PM');
  expect(german.clock('2026-06-15T16:42:00Z', now)).toBe('16:42');
  expect(german.clock('2026-06-16T16:42:00Z', now)).toBe('16. Juni, 16:42');
});

test('another time zone is named with its own time', () => {
  const at = '2026-06-15T16:42:03Z';
  expect(german.dateTime(at)).toBe('15.06.2026, 16:42:03');
  expect(german.dateTime(at, 'Asia/Tokyo')).toBe('15.06.2026, 16:42:03 (16.06.2026, 01:42:03 in Asia/Tokyo)');
  expect(german.dateTime(at, 'Africa/Abidjan')).toBe('15.06.2026, 16:42:03');
  expect(german.dateTime(at, 'Mars/Olympus')).toBe('15.06.2026, 16:42:03');
});

test('numbers are separated as the locale does', () => {
  expect([american.number(12_345), german.number(12_345)]).toEqual(['12,345', '12.345']);
});
