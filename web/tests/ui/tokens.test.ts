import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

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

test('light-dark() holds two colours, because it is invalid around anything else', () => {
  const depth = /light-dark\(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)/g;
  const pairs = [...tokens.matchAll(depth)].map((match) => match[1]!);
  expect(pairs.length).toBeGreaterThan(40);
  for (const pair of pairs) expect(pair).toMatch(/^(?:oklch\([^()]*\)(?:, |$)){2}/);
});
