const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Whether the age of a time (RFC 3339) is written as a date, which a sentence puts "on" before. */
export const isDated = (at: string, now: number): boolean => Math.abs(now - Date.parse(at)) >= DAY;

type Locale = string | readonly string[];

const FORMATS = {
  year: { year: 'numeric' },
  dayOfYear: { day: 'numeric', month: 'short' },
  day: { day: 'numeric', month: 'short', year: 'numeric' },
  clock: { hour: 'numeric', minute: '2-digit' },
  full: { dateStyle: 'medium', timeStyle: 'medium' },
} satisfies Record<string, Intl.DateTimeFormatOptions>;

/** Formats dates, times and numbers as a locale does. The words around them are the app's own, in English. */
export class LocalFormat {
  readonly #locale: Locale;
  readonly #zone: string | undefined;
  readonly #formats: Partial<Record<keyof typeof FORMATS, Intl.DateTimeFormat>> = {};
  #numbers: Intl.NumberFormat | undefined;

  /** `zone` is an IANA time zone; without it, the device's. */
  constructor(locale: Locale, zone?: string) {
    this.#locale = locale;
    this.#zone = zone;
  }

  /** "5 min ago", "in 3 h"; after a day, the date. Times are RFC 3339, `now` is epoch milliseconds. */
  age(at: string, now: number): string {
    const ms = now - Date.parse(at);
    const length = Math.abs(ms);
    if (length < MINUTE) return 'just now';
    if (isDated(at, now)) return this.date(at, now);
    const words = length < HOUR ? `${Math.trunc(length / MINUTE)} min` : `${Math.trunc(length / HOUR)} h`;
    return ms > 0 ? `${words} ago` : `in ${words}`;
  }

  /** The date; its year only if it is another one. */
  date(at: string, now: number): string {
    const date = new Date(at);
    return this.#format(this.#isSame('year', date, new Date(now)) ? 'dayOfYear' : 'day', date);
  }

  /** The time of day, with the date if it isn't today. */
  clock(at: string, now: number): string {
    const date = new Date(at);
    const time = this.#format('clock', date);
    const isToday = this.#isSame('day', date, new Date(now));
    return isToday ? time : `${this.date(at, now)}, ${time}`;
  }

  /** Date and time; and the time where it happened, if that is another time zone. */
  dateTime(at: string, zone?: string | null): string {
    const date = new Date(at);
    const here = this.#format('full', date);
    if (!zone) return here;
    try {
      const there = new LocalFormat(this.#locale, zone).#format('full', date);
      return there === here ? here : `${here} (${there} in ${zone})`;
    } catch {
      return here; // a zone that this browser doesn't know
    }
  }

  /** Format a number with separators. Those that have none don't load the locale, which takes a browser tens of ms. */
  number(value: number): string {
    if (Number.isInteger(value) && Math.abs(value) < 1000) return String(value);
    return (this.#numbers ??= new Intl.NumberFormat(this.#locale as string[])).format(value);
  }

  #isSame(part: 'year' | 'day', date: Date, other: Date): boolean {
    return this.#format(part, date) === this.#format(part, other);
  }

  /** Create each format when it is first needed; the first takes milliseconds. */
  #format(name: keyof typeof FORMATS, date: Date): string {
    const options = { timeZone: this.#zone, ...FORMATS[name] };
    return (this.#formats[name] ??= new Intl.DateTimeFormat(this.#locale as string[], options)).format(date);
  }
}

const local = new LocalFormat(typeof navigator === 'undefined' ? 'en' : navigator.languages);

/** Format an RFC 3339 time relative to `now` (epoch milliseconds): "5 min ago"; after a day, the date. */
export const formatAge = (at: string, now: number): string => local.age(at, now);

/** Format an RFC 3339 time as a time of day, with the date if it isn't today. */
export const formatClock = (at: string): string => local.clock(at, Date.now());

/** Format an RFC 3339 time as date and time, and as those of the time zone where it happened. */
export const formatDateTime = (at: string, zone?: string | null): string => local.dateTime(at, zone);

/** Format a number with separators. */
export const formatNumber = (value: number): string => local.number(value);

/** Format a day such as 2026-12-24: "Dec 24"; its year only if it is another one. */
export const formatDay = (day: string): string => local.date(`${day}T12:00:00`, Date.now());
