/** What a record says about a text that a person entered: a class of its length, and what it has. Never the text. */
import type { Trait } from '../capture-types';

const LENGTHS: [most: number, name: string][] = [
  [10, '1–10'],
  [50, '11–50'],
  [200, '51–200'],
];
const NUMBER = /^\s*[-+]?\d+(?:[.,]\d+)*\s*$/;

export interface TextClass {
  isEmpty: boolean;
  length: string;
  traits: Trait[];
}

export function classifyText(text: string): TextClass {
  const amount = NUMBER.test(text) ? Number.parseFloat(text) : 0;
  const traits: [has: boolean, trait: Trait][] = [
    [/\d/.test(text), 'digit'],
    [/\p{L}/u.test(text), 'letter'],
    [/\s/.test(text), 'space'],
    [amount < 0, 'negative'],
    [amount > 100, 'above_100'],
  ];
  return {
    isEmpty: text === '',
    length: LENGTHS.find(([most]) => text.length <= most)?.[1] ?? '200+',
    traits: traits.filter(([has]) => has).map(([, trait]) => trait),
  };
}
