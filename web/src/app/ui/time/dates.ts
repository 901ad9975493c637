const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Whether the age of a time (RFC 3339) is written as a date, which a sentence puts "on" before. */
export const isDated = (at: string, now: number): boolean => Math.abs(now - Date.parse(at)) >= DAY;

type Locale = string | readonly string[];

/** Formats dates, times and numbers as a locale does. The words around them are the app's own, in English. */
export class LocalFormat {
  readonly #thisYear: Intl.DateTimeFormat;
  readonly #otherYear: Intl.DateTimeFormat;
  readonly #clock: Intl.DateTimeFormat;
  readonly #full: Intl.DateTimeFormat;
  readonly #number: Intl.NumberFormat;
  readonly #locale: Locale;
  readonly #zone: string | undefined;

  /** `zone` is an IANA time zone; without it, the device's. */
  constructor(locale: Locale, zone?: string) {
    this.#locale = locale;
    this.#zone = zone;
    const create = (options: Intl.DateTimeFormatOptions) =>
      new Intl.DateTimeFormat(locale as string[], { timeZone: zone, ...options });
    this.#thisYear = create({ day: 'numeric', month: 'short' });
    this.#otherYear = create({ day: 'numeric', month: 'short', year: 'numeric' });
    this.#clock = create({ hour: 'numeric', minute: '2-digit' });
    this.#full = create({ dateStyle: 'medium', timeStyle: 'medium' });
    this.#number = new Intl.NumberFormat(locale as string[]);
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
    return (this.#year(date) === this.#year(new Date(now)) ? this.#thisYear : this.#otherYear).format(date);
  }

  /** The time of day, with the date if it isn't today. */
  clock(at: string, now: number): string {
    const date = new Date(at);
    const time = this.#clock.format(date);
    const isToday = this.#otherYear.format(date) === this.#otherYear.format(new Date(now));
    return isToday ? time : `${this.date(at, now)}, ${time}`;
  }

  /** Date and time; and the time where it happened, if that is another time zone. */
  dateTime(at: string, zone?: string | null): string {
    const date = new Date(at);
    const here = this.#full.format(date);
    if (!zone) return here;
    try {
      const there = new LocalFormat(this.#locale, zone).#full.format(date);
      return there === here ? here : `${here} (${there} in ${zone})`;
    } catch {
      return here; // a zone that this browser doesn't know
    }
  }

  number(value: number): string {
    return this.#number.format(value);
  }

  #year(date: Date): string {
    return new Intl.DateTimeFormat('en', { timeZone: this.#zone, year: 'numeric' }).format(date);
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
