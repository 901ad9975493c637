import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { LABEL_COLORS } from '../../src/app/companies/labels/label-colors';

const root = new URL('../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');
const tokens = read('../ticketbox/http/pages/templates/tokens.css');

/** Names that match a pattern, sorted, each once. */
const find = (text: string, pattern: RegExp) =>
  [...new Set([...text.matchAll(pattern)].map((match) => match[1]!))].sort();

test('every variable in a style is declared', () => {
  const all = readdirSync(new URL('src', root), { recursive: true, encoding: 'utf8' });
  const files = all.filter((name) => /\.(svelte|css)$/.test(name)).map((name) => `src/${name}`);
  expect(files.length).toBeGreaterThan(50);
  for (const file of files) {
    const text = read(file);
    const declared = [...find(tokens, /(--[\w-]+):/g), ...find(text, /(--[\w-]+)[:=]/g)];
    const used = find(text, /var\((--[\w-]+)\)/g); // those with a fallback may be undeclared
    expect({ file, unknown: used.filter((name) => !declared.includes(name)) }).toEqual({ file, unknown: [] });
  }
});

/** The relative luminance of `oklch(L C H)` (CSS Color 4, "Sample code for color conversions"; WCAG 2.2). */
function findLuminance(color: string): number {
  const [l, c, h] = [...color.matchAll(/[\d.]+/g)].map(Number) as [number, number, number];
  const [a, b] = [c * Math.cos((h * Math.PI) / 180), c * Math.sin((h * Math.PI) / 180)];
  const long = (l + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const medium = (l - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const short = (l - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const rgb = [
    4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
    -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
    -0.0041960863 * long - 0.7034186147 * medium + 1.707614701 * short,
  ].map((part) => Math.min(Math.max(part, 0), 1)) as [number, number, number];
  return 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2];
}

test('every label colour is visible on every surface, in light and dark', () => {
  const colors = new Map(
    [...tokens.matchAll(/(--[\w-]+): light-dark\((oklch\([^()/]+\)), (oklch\([^()/]+\))\);/g)].map(
      ([, name, ...pair]) => [name!, pair],
    ),
  );
  const labels = [...colors.keys()].filter((name) => name.startsWith('--label-'));
  expect(labels.map((name) => name.slice('--label-'.length))).toEqual(Object.keys(LABEL_COLORS));
  for (const scheme of [0, 1])
    for (const surface of ['--surface', '--ground', '--raised', '--accent-ground'])
      for (const label of labels) {
        const pair = [label, surface].map((name) => findLuminance(colors.get(name)![scheme]!));
        const ratio = (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
        expect({ label, surface, scheme, ok: ratio >= 3 }).toEqual({ label, surface, scheme, ok: true });
      }
});

test('light-dark() holds two colours, because it is invalid around anything else', () => {
  const depth = /light-dark\(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)/g;
  const pairs = [...tokens.matchAll(depth)].map((match) => match[1]!);
  expect(pairs.length).toBeGreaterThan(40);
  for (const pair of pairs) expect(pair).toMatch(/^(?:oklch\([^()]*\)(?:, |$)){2}/);
});
