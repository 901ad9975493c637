import { formatDay } from '../../../ui/time/dates';
import type { Choice } from '../../../ui/overlays/Picker.svelte';

export const NO_DATE = 'none';

const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

/** The calendar day of a time, where the device is: "2026-12-24". */
export function toDay(time: Date): string {
  const [month, day] = [time.getMonth() + 1, time.getDate()].map((part) => String(part).padStart(2, '0'));
  return `${String(time.getFullYear()).padStart(4, '0')}-${month}-${day}`;
}

/** The day that is so many days later. */
export function addDays(day: string, count: number): string {
  const time = new Date(`${day}T12:00`);
  time.setDate(time.getDate() + count);
  return toDay(time);
}

/** What a typed text names: a day such as "2026-12-24". Null for anything else. */
export function parseDay(text: string): string | null {
  const day = text.trim();
  return /^\d{4}-\d{2}-\d{2}$/.test(day) && !Number.isNaN(Date.parse(day)) && addDays(day, 0) === day
    ? day
    : null;
}

/** The days that a picker offers, and the present one if it is another. */
export function listDueChoices(today: string, current: string | null): Choice[] {
  const name = (count: number) =>
    ['Today', 'Tomorrow'][count] ?? WEEKDAYS[new Date(`${addDays(today, count)}T12:00`).getDay()]!;
  const offered: [string, string][] = [
    ...[0, 1, 2, 3, 4, 5, 6, 7].map((count): [string, string] => [
      addDays(today, count),
      count === 7 ? 'In a week' : name(count),
    ]),
    [addDays(today, 14), 'In two weeks'],
    [addDays(today, 28), 'In four weeks'],
  ];
  const isOffered = current === null || offered.some(([day]) => day === current);
  return [
    ...(isOffered ? [] : [{ value: current, label: formatDay(current), checked: true }]),
    ...offered.map(([day, label]) => ({
      value: day,
      label,
      hint: formatDay(day),
      checked: day === current,
    })),
    ...(current === null ? [] : [{ value: NO_DATE, label: 'No due date' }]),
  ];
}

/** Whether something unresolved should have been done before today, or should be done today. */
export function findUrgency(
  ticket: { due_on: string | null; resolved: boolean },
  today: string,
): 'overdue' | 'today' | null {
  if (ticket.due_on === null || ticket.resolved || ticket.due_on > today) return null;
  return ticket.due_on === today ? 'today' : 'overdue';
}
