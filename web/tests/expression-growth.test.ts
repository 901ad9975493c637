import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { RULES } from '../src/recorder/redaction/rules';

// texts come from strangers, and a word may be of any length
const FOLDERS = [
  'src',
  '../ticketbox/http/reporters/playwright',
  '../ticketbox/domain/captures/reproduction',
];
const UNITS = [
  ...'aAH0-._/\\\'"<(:= \n&%[é;,|`*@+',
  'a-',
  '0-',
  'a.',
  '0.',
  'a:',
  'a ',
  '(a',
  '/a',
  'a=',
  'aA0',
  '\\"',
  '://',
];
/** These read one declaration of a style, or an address that the browser has checked. */
const BOUNDED = ['src/extension/recording/recorded-sites.ts'];
const LENGTHS = [3_125, 12_500, 50_000, 200_000];
/** What no text of the last length may take because of quadratic growth. */
const SLOW_MS = 1_000;

test('no regular expression takes quadratic time', { timeout: 60_000 }, () => {
  const expressions = new Map<string, RegExp>();
  for (const folder of FOLDERS)
    for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
      if (/(?<!\.d)\.(ts|js)$/.test(file) && !BOUNDED.includes(join(folder, file)))
        readLiterals(join(folder, file), expressions);
  const patterns = [...RULES.formats, ...RULES.pairs.spans, ...RULES.pairs.prose].map((each) => each.pattern);
  for (const pattern of patterns) expressions.set(pattern, new RegExp(pattern, 'g'));
  expect(expressions.size).toBeGreaterThan(200);
  const slow = [...expressions].filter(([, each]) => UNITS.some((unit) => growsTooFast(each, unit)));
  expect(slow.map(([name]) => name)).toEqual([]);
});

test('a quadratic regular expression is found', () => {
  expect(growsTooFast(/[a-z][a-z0-9+.-]*:\/\//, 'a')).toBe(true);
  expect(growsTooFast(/[a-z][a-z0-9+.-]{0,30}:\/\//, 'a')).toBe(false);
});

function readLiterals(file: string, found: Map<string, RegExp>): void {
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const [, source, flags] = /^\/(.*)\/([a-z]*)$/s.exec(node.text)!;
      if (!flags!.includes('y'))
        found.set(`${file}: ${node.text}`, new RegExp(source!, flags!.replace('g', '') + 'g'));
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true));
}

/** Whether four times the text takes much more than four times the time. */
function growsTooFast(expression: RegExp, unit: string): boolean {
  let before = 0;
  for (const length of LENGTHS) {
    const text = unit.repeat(length / unit.length);
    const spent = measure(expression, text);
    const isSlow = () => measure(expression, text) > 8 * before;
    // other threads and other programs can disturb a measurement
    if (before && spent > 8 * before && isSlow() && isSlow() && isSlow()) return true;
    if (spent * (LENGTHS.at(-1)! / length) ** 2 < SLOW_MS) return false;
    before = spent;
  }
  return false;
}

/** Milliseconds of processor time of finding all matches. */
function measure(expression: RegExp, text: string): number {
  const started = process.cpuUsage();
  text.replace(expression, '');
  const { user, system } = process.cpuUsage(started);
  return (user + system) / 1_000;
}
