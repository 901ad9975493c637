/** The facts about a frame's page, its browser and its window. */
import type { FrameReport } from './capture-types';
import { readStorageNames } from './environment/storage-names';

export interface NavigationApi {
  activation?: { from: object | null } | null;
  addEventListener(type: string, listener: (event: NavigateEvent) => void): void;
}
interface NavigateEvent {
  destination: { url: string; sameDocument: boolean };
  formData: FormData | null;
  downloadRequest: string | null;
}

// Firefox before 147 has no navigation API
export const { navigation } = globalThis as { navigation?: NavigationApi };

export function describeFrame(): Omit<FrameReport, 'document' | 'record'> {
  const [timing] = performance.getEntriesByType('navigation');
  const responseStart = (timing as PerformanceNavigationTiming | undefined)?.responseStart ?? 0;
  const { userAgent, language } = navigator;
  return {
    hasPredecessor: hasPredecessor(),
    page: { url: location.href, title: document.title, referrer: document.referrer || null },
    loadedAt: performance.timeOrigin + responseStart,
    environment: {
      browser: userAgent.slice(0, 1_000),
      os: navigator.platform || null,
      viewport: { width: innerWidth, height: innerHeight },
      screen: { width: screen.width, height: screen.height },
      dpr: devicePixelRatio > 0 ? devicePixelRatio : null,
      language,
      timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
      color_scheme: prefers('(prefers-color-scheme: dark)') ? 'dark' : 'light',
      reduced_motion: prefers('(prefers-reduced-motion: reduce)'),
      touch: prefers('(pointer: coarse)'),
      release: document.querySelector<HTMLMetaElement>('meta[name="release"]')?.content.slice(0, 200) || null,
      storage: readStorageNames(),
    },
    childFrames: window.length,
  };
}

function prefers(query: string): boolean {
  return matchMedia(query).matches;
}

/** Whether the tab showed another document of the site before this one. */
export function hasPredecessor(): boolean {
  const [timing] = performance.getEntriesByType('navigation') as unknown as PerformanceNavigationTiming[];
  if (window !== top || timing?.type === 'reload') return window === top;
  if (navigation?.activation) return navigation.activation.from !== null;
  return history.length > 1 && URL.parse(document.referrer)?.origin === location.origin;
}
