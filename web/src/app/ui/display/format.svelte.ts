const MINUTE = 60_000;
const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['minute', MINUTE],
  ['hour', 60 * MINUTE],
  ['day', 24 * 60 * MINUTE],
];
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'narrow' });
const thisYear = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short' });
const otherYear = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', year: 'numeric' });
const full = new Intl.DateTimeFormat('en', { dateStyle: 'long', timeStyle: 'medium' });

const clock = $state({ now: Date.now() });
setInterval(() => (clock.now = Date.now()), MINUTE / 2);

/** How long ago, in few words; a date for what is more than a week old. */
export function ago(at: string): string {
  const then = Date.parse(at);
  const passed = clock.now - then;
  if (Math.abs(passed) < MINUTE) return 'just now';
  if (Math.abs(passed) > 7 * 24 * 60 * MINUTE) {
    const date = new Date(then);
    return (date.getFullYear() === new Date(clock.now).getFullYear() ? thisYear : otherYear).format(date);
  }
  const [unit, length] = STEPS.findLast(([, each]) => Math.abs(passed) >= each)!;
  return relative.format(-Math.trunc(passed / length), unit);
}

/** The whole date and time, in the reader's own zone. */
export function exactly(at: string): string {
  return full.format(new Date(at));
}

/** Bytes, as people write them. */
export function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const units = ['kB', 'MB', 'GB'];
  const step = Math.min(Math.floor(Math.log10(bytes) / 3), units.length);
  const figure = bytes / 1000 ** step;
  return `${figure.toFixed(figure < 10 ? 1 : 0)} ${units[step - 1]}`;
}
