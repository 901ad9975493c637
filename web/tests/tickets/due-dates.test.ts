import { describe, expect, it } from 'vitest';
import {
  addDays,
  findUrgency,
  listDueChoices,
  parseDay,
  toDay,
} from '../../src/app/tickets/properties/due/due-dates';

describe('due dates', () => {
  it('counts days across months, years and changes of the clock', () => {
    expect(toDay(new Date(2026, 11, 24, 23, 59))).toBe('2026-12-24');
    expect(addDays('2026-12-31', 1)).toBe('2027-01-01');
    expect(addDays('2028-02-28', 1)).toBe('2028-02-29');
    expect(Array.from({ length: 366 }, (_, count) => addDays('2026-01-01', count)).at(-1)).toBe('2027-01-01');
  });

  it('reads a typed day and nothing else', () => {
    expect(parseDay(' 2026-12-24 ')).toBe('2026-12-24');
    for (const text of ['2026-02-30', '2026-13-01', '24.12.2026', 'tomorrow', ''])
      expect(parseDay(text)).toBeNull();
  });

  it('offers days by name, the present one, and none', () => {
    const choices = listDueChoices('2026-11-22', '2026-11-24');
    expect(choices.slice(0, 4).map(({ value, label, checked }) => [value, label, checked])).toEqual([
      ['2026-11-22', 'Today', false],
      ['2026-11-23', 'Tomorrow', false],
      ['2026-11-24', 'Tuesday', true],
      ['2026-11-25', 'Wednesday', false],
    ]);
    expect(choices.at(-1)!.label).toBe('No due date');
    expect(listDueChoices('2026-11-22', '2025-01-01')[0]!.checked).toBe(true);
    expect(listDueChoices('2026-11-22', null).at(-1)!.label).toBe('In four weeks');
  });

  it('is urgent when it is due today or overdue, unless it is resolved', () => {
    const at = (due_on: string | null, resolved = false) => findUrgency({ due_on, resolved }, '2026-11-22');
    expect([at('2026-11-21'), at('2026-11-22'), at('2026-11-23'), at(null)]).toEqual([
      'overdue',
      'today',
      null,
      null,
    ]);
    expect(at('2026-11-21', true)).toBeNull();
  });
});
