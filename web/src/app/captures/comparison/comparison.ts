import type { ComparedRequest, Difference } from '../../../../generated/api';
import { nameBrowser } from '../environment/browsers';

const LABELS: Record<string, string> = {
  url: 'URL',
  title: 'Title',
  referrer: 'Referrer',
  browser: 'Browser',
  os: 'Operating system',
  viewport: 'Viewport',
  screen: 'Screen',
  dpr: 'Pixel ratio',
  language: 'Language',
  timezone: 'Time zone',
  release: 'Release',
  extension: 'Extension',
  'storage.local': 'Local storage',
  'storage.session': 'Session storage',
  'storage.cookies': 'Cookies',
  'storage.omitted': 'More names in storage',
};
/** A flag or another value that the page declares, which it names itself. */
const DECLARED = 'declared.';

/** A property of page or browser that differs, as it is shown; null in a capture that lacks it. */
export interface ShownDifference {
  label: string;
  values: [string | null, string | null];
}

/** Label a difference. A browser is shown by its name and version, unless only something else differs. */
export function labelDifference({ name, capture, other }: Difference): ShownDifference {
  const label = LABELS[name] ?? (name.startsWith(DECLARED) ? name.slice(DECLARED.length) : name);
  if (name === 'browser' && capture && other) {
    const names: [string, string] = [nameBrowser(capture), nameBrowser(other)];
    if (names[0] !== names[1]) return { label, values: names };
  }
  return { label, values: [capture, other] };
}

/** Shorten the address of a request: without the host if it is the page’s own in either capture. */
export function shortenAddress({ url }: ComparedRequest, pages: string[]): string {
  const found = URL.parse(url);
  const isOwn = found && pages.some((page) => URL.parse(page)?.host === found.host);
  return isOwn ? found.pathname + found.search : url;
}
