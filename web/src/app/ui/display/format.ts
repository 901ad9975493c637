import { formatNumber } from '../time/dates';

/** Format bytes in decimal units: "1.5 MB". */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const units = ['kB', 'MB', 'GB'];
  const step = Math.min(Math.floor(Math.log10(bytes) / 3), units.length);
  const figure = bytes / 1000 ** step;
  return `${figure.toFixed(figure < 10 ? 1 : 0)} ${units[step - 1]}`;
}

/** Format a number with its noun: "1 entry", "1,200 entries". */
export function formatCount(count: number, singular: string, plural: string): string {
  return `${formatNumber(count)} ${count === 1 ? singular : plural}`;
}

/** Join words as a sentence does: "a, b and c". */
export function joinWords(words: string[]): string {
  return words.length < 2 ? (words[0] ?? '') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}

/** The first letters of the first and the last name, in upper case. */
export function initials(name: string): string {
  return name
    .split(/\s+/)
    .filter(Boolean)
    .map((part) => [...part][0]!.toUpperCase())
    .filter((_, index, all) => index === 0 || index === all.length - 1)
    .join('');
}

const VIOLET = { from: 280, to: 345 }; // the hues of agents in OKLCH

/** A colour's OKLCH hue in degrees that is always the same for the same text, and never the agents' violet. */
export function hueOf(text: string, seed: number): number {
  const others = 360 - (VIOLET.to - VIOLET.from);
  const hue = [...text].reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)!) % others, seed % others);
  return hue < VIOLET.from ? hue : hue + VIOLET.to - VIOLET.from;
}
