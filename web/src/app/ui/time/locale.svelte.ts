import { formatDateTime } from './dates';

/** The person's locale, which takes a browser tens of milliseconds to load: the first page is painted without it. */
class Locale {
  isReady = $state(false);

  /** Load it, after the first page was painted. */
  prepare(): void {
    formatDateTime(new Date().toISOString());
    this.isReady = true;
  }
}

export const locale = new Locale();
