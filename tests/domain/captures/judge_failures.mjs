// Judges what runs saw, a JSON array of [expected, seen] on stdin, with the files of reproductions; prints the judgements.
import { readFileSync } from 'node:fs';

const folder = `${process.cwd()}/../ticketbox/domain/captures`;
const { createMatcher } = await import(`${folder}/reproduction/failures.js`);
const { judge } = await import(`${folder}/reproduction/verdict.js`);
const rules = JSON.parse(readFileSync(`${folder}/messages.json`, 'utf8'));
const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const judgements = JSON.parse(Buffer.concat(chunks)).map(([expected, { replaced = [], ...seen }]) => {
  const { findBug, findOther } = createMatcher(expected, rules, replaced);
  const found = { broken: null, obstacle: null, ...seen, bug: findBug(seen), other: findOther(seen) };
  return judge(expected, seen, found);
});
process.stdout.write(JSON.stringify(judgements), () => process.exit(0));
