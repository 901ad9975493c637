/** What the environment tab says about performance. */
import type { Environment, FrameScript } from '../../../../generated/api';
import { formatDuration } from '../format';

export type Rating = 'good' | 'needs improvement' | 'poor';
export interface Vital {
  name: string;
  label: string;
  value: string;
  rating: Rating;
}
type VitalName = keyof NonNullable<Environment['vitals']>;

/** Labels, and up to which value a vital is good, and not poor: https://web.dev/articles/defining-core-web-vitals-thresholds */
const VITALS: [name: VitalName, label: string, good: number, fair: number][] = [
  ['lcp_ms', 'Largest Contentful Paint', 2_500, 4_000],
  ['inp_ms', 'Interaction to Next Paint', 200, 500],
  ['cls', 'Cumulative Layout Shift', 0.1, 0.25],
  ['fcp_ms', 'First Contentful Paint', 1_800, 3_000],
  ['ttfb_ms', 'Time to First Byte', 800, 1_800],
];

/** The web vitals that were measured. */
export function listVitals(vitals: Environment['vitals']): Vital[] {
  return VITALS.flatMap(([name, label, good, fair]) => {
    const value = vitals?.[name];
    if (value === undefined) return [];
    const rating = value <= good ? 'good' : value <= fair ? 'needs improvement' : 'poor';
    const text = name === 'cls' ? String(Number(value.toFixed(3))) : formatDuration(value);
    return [{ name: name.replace('_ms', '').toUpperCase(), label, value: text, rating }];
  });
}

/** The function of a script and what called it: "renderTotals from BUTTON#pay.onclick". */
export function nameScript({ function: name, invoker, url }: FrameScript): string {
  // the invoker of a script element is its address, which is shown beside it
  const caller = invoker && invoker !== url ? invoker : '';
  if (name && caller) return `${name} from ${caller}`;
  return name || caller || 'Script';
}
