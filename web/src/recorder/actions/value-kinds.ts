/** What is recorded about the value of a field: its kind, a class of its length, and what the field accepts. */
import type { FieldRules, Trait } from '../capture-types';
import { attributeOf, inputTypeOf, isMistyped, localNameOf, measureText } from './dom';
import { type TextClass } from './text-traits';

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

const MAX_RULE = 200;

/** The kind of what was entered into a field, such as `text 1–10`, `email` or `empty`, and what it has: a digit. */
export function describeValue(field: Element): { value_kind: string; traits?: Trait[] } {
  const measured = measureText(field);
  if (measured.isEmpty) return { value_kind: 'empty', traits: [] };
  // an address that the field refuses is repeated as a text, which the field refuses, too
  const type = isMistyped(field) ? 'text' : (inputTypeOf(field) ?? 'text');
  return { value_kind: nameKind(type, measured), traits: measured.traits };
}

function nameKind(type: string, { length }: TextClass): string {
  if (TYPES_WITHOUT_LENGTH.has(type)) return type.split('-')[0]!;
  return `${type === 'search' ? 'search' : 'text'} ${length}`;
}

/** What the page says that a field accepts; undefined if it says nothing. */
export function readRules(field: Element): { field?: FieldRules } {
  const read = (name: string) => attributeOf(field, name)?.slice(0, MAX_RULE) || undefined;
  const readLength = (name: string) => {
    const length = Number.parseInt(read(name) ?? '', 10);
    return length >= 0 ? Math.min(length, 2 ** 31) : undefined;
  };
  const rules = Object.entries({
    pattern: read('pattern'),
    min: read('min'),
    max: read('max'),
    step: read('step'),
    min_length: readLength('minlength'),
    max_length: readLength('maxlength'),
    accept: read('accept'),
    input_mode: read('inputmode'),
  }).filter(([, rule]) => rule !== undefined);
  return rules.length ? { field: Object.fromEntries(rules) } : {};
}

/** The kind of a choice in a field that isn't typed into; null where clicks already say what happened. */
export function describeChoice(field: Element): string | null {
  if (localNameOf(field) === 'select') return 'option';
  const type = inputTypeOf(field);
  return type === 'file' || type === 'color' || type === 'range' ? type : null;
}
