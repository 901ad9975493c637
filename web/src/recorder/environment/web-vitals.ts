import { onCLS, onFCP, onINP, onLCP, onTTFB, type Metric } from 'web-vitals';
import type { Environment } from '../capture-types';

type WebVitals = NonNullable<Environment['vitals']>;

/** Start measuring the page's web vitals. Returns a function that reads them as they are now. */
export function recordWebVitals(): () => WebVitals {
  const vitals: WebVitals = {};
  const keep =
    (name: keyof WebVitals, digits = 0) =>
    ({ value }: Metric) =>
      (vitals[name] = Number(value.toFixed(digits)));
  const options = { reportAllChanges: true };
  onLCP(keep('lcp_ms'), options);
  onINP(keep('inp_ms'), options);
  onCLS(keep('cls', 4), options);
  onFCP(keep('fcp_ms'), options);
  onTTFB(keep('ttfb_ms'), options);
  return () => ({ ...vitals });
}
