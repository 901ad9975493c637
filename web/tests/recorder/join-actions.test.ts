import { expect, test } from 'vitest';
import { CHANGED, joinActions, PART, RESTED } from '../../src/recorder/actions/join-actions';
import type { ActionEntry, PageRecord } from '../../src/recorder/capture-types';

function join(actions: object[], record: object): [string, string | null][] {
  const page = { errors: [], console: [], network: [], dropped: {}, ...record } as unknown as PageRecord;
  const joined = joinActions(page, { entries: actions as ActionEntry[], dropped: 0 });
  expect(joined).not.toHaveProperty('dialogs');
  return joined.actions.map(({ kind, value_kind: value }) => [kind, value]);
}

test.each([
  [CHANGED, {}, true],
  [RESTED, {}, false],
  [RESTED, { network: [{ ts: 1_100 }] }, true],
  [RESTED, { network: [{ ts: 1_900 }] }, false],
  [PART, { network: [{ ts: 1_100 }] }, false],
  [PART, { errors: [{ ts: 1_100 }] }, true],
  [PART, { console: [{ ts: 1_100, level: 'error' }] }, true],
  [PART, { console: [{ ts: 1_100, level: 'log' }] }, false],
  [RESTED, { errors: [{ ts: 900 }] }, false],
])('a hover that is %s before %j is a step: %s', (value_kind, record, isStep) => {
  expect(join([{ kind: 'hover', ts: 1_000, value_kind }], record)).toEqual(isStep ? [['hover', null]] : []);
});

test('what an action caused says nothing about the hover before it', () => {
  const hover = { kind: 'hover', ts: 1_000, value_kind: PART };
  const click = { kind: 'click', ts: 1_050, value_kind: null };
  expect(join([hover, click], { errors: [{ ts: 1_060 }] })).toEqual([['click', null]]);
  expect(join([hover, click], { errors: [{ ts: 1_040 }] })).toEqual([
    ['hover', null],
    ['click', null],
  ]);
});

test('a pointer that may have selected text dragged something if something followed', () => {
  const drag = { kind: 'drag', ts: 1_000, value_kind: RESTED };
  expect(join([drag], {})).toEqual([]);
  expect(join([drag], { errors: [{ ts: 3_000 }] })).toEqual([['drag', null]]);
});

test('dialogs are among the actions in order of time', () => {
  const click = { kind: 'click', ts: 2_000, value_kind: null };
  const dialogs = [{ kind: 'dialog', ts: 1_000, value_kind: null }];
  expect(join([click], { dialogs }).map(([kind]) => kind)).toEqual(['dialog', 'click']);
  expect(join([click], {}).map(([kind]) => kind)).toEqual(['click']); // a record of an older version
});
