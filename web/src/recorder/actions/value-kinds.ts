/** What is recorded about the value of a field: its kind and a class of its length, never the value. */
import { inputTypeOf, lengthOf, localNameOf } from './dom';

const LENGTHS: [most: number, name: string][] = [
  [10, '1–10'],
  [50, '11–50'],
  [200, '51–200'],
];
const TYPES_WITHOUT_LENGTH = new Set([
  'color',
  'date',
  'datetime-local',
  'email',
  'month',
  'number',
  'range',
  'tel',
  'time',
  'url',
  'week',
]);

/** The kind of what was entered into a field: `text 1–10`, `email`, `empty`. */
export function describeValue(field: Element): string {
  const length = lengthOf(field);
  if (length === 0) return 'empty';
  const type = inputTypeOf(field) ?? 'text';
  if (TYPES_WITHOUT_LENGTH.has(type)) return type.split('-')[0]!;
  const name = LENGTHS.find(([most]) => length <= most)?.[1] ?? '200+';
  return `${type === 'search' ? 'search' : 'text'} ${name}`;
}

/** The kind of a choice in a field that isn't typed into; null where clicks already say what happened. */
export function describeChoice(field: Element): string | null {
  if (localNameOf(field) === 'select') return 'option';
  const type = inputTypeOf(field);
  return type === 'file' || type === 'color' || type === 'range' ? type : null;
}
