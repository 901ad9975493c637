import { describe, expect, test, vi } from 'vitest';
import corpus from '../../../tests/domain/events/mentions.json';
import { renderMarkdown } from '../../src/app/tickets/text/markdown';
import { findMentions, findTrigger, suggestPeople } from '../../src/app/tickets/text/mentions';
import { suggestCommands } from '../../src/app/tickets/text/text-commands';

vi.stubGlobal('location', new URL('https://tickets.example/tickets/t-1'));

const PEOPLE = [
  { id: '1', name: 'Ann' },
  { id: '2', name: 'Ann Berg' },
  { id: '3', name: 'Łukasz Nowak' },
  { id: '4', name: 'bob' },
  { id: '5', name: 'Ann' },
];

// The corpus that the tests of the server read, too.
test.each(corpus.mentions as [string, string[]][])('%s mentions %s', (text, expected) => {
  const people = corpus.people.map((name, index) => ({ id: String(index), name }));
  const shown = people.filter(({ id }) => renderMarkdown(text, { people, me: id }).includes('mention me'));
  const names = new Set(shown.map(({ name }) => name));
  expect([...names].sort()).toEqual([...expected].sort());
});

test('a first name of two people mentions nobody', () => {
  const people = [
    { id: '1', name: 'Eva Lund' },
    { id: '2', name: 'Eva Berg' },
  ];
  expect(findMentions('@eva', people)).toEqual([]);
  expect(findMentions('hi @eva', people.slice(1))).toEqual([{ start: 3, end: 7, ids: ['2'] }]);
});

describe('suggestions', () => {
  test('start with @ or # before the caret', () => {
    expect(findTrigger('ask @an', 7)).toEqual({ kind: '@', query: 'an', start: 4 });
    expect(findTrigger('ask @an and wait', 7)).toEqual({ kind: '@', query: 'an', start: 4 });
    expect(findTrigger('#', 1)).toEqual({ kind: '#', query: '', start: 0 });
    expect(findTrigger('こんにちは@田', 7)).toEqual({ kind: '@', query: '田', start: 5 });
    expect(findTrigger('＠an', 3)).toEqual({ kind: '@', query: 'an', start: 0 });
    expect(findTrigger('mail ann@be', 11)).toBeNull();
    expect(findTrigger('# Title', 7)).toBeNull();
  });

  test('offer commands after / at the start of a line', () => {
    expect(findTrigger('See:\n/bul', 9)).toEqual({ kind: '/', query: 'bul', start: 5 });
    expect(findTrigger('/', 1)).toEqual({ kind: '/', query: '', start: 0 });
    expect(findTrigger('and/or', 6)).toBeNull();
    expect(findTrigger('open /cart', 10)).toBeNull();
    expect(suggestCommands('li').map(({ label }) => label)).toEqual([
      'Bulleted list',
      'Numbered list',
      'Task list',
    ]);
  });

  test('offer people by any part of their name', () => {
    expect(suggestPeople(PEOPLE, 'be').map(({ id }) => id)).toEqual(['2']);
    expect(suggestPeople(PEOPLE, 'Ann B').map(({ id }) => id)).toEqual(['2']);
    expect(suggestPeople(PEOPLE, '')).toHaveLength(5);
  });
});
