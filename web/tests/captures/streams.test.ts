import { describe, expect, test } from 'vitest';
import { filterConsole } from '../../src/app/captures/console/console';
import { errorText, filterErrors, groupErrors } from '../../src/app/captures/console/errors';
import { describeGaps, describeLateStart, describeRedaction } from '../../src/app/captures/health';
import { formatSteps } from '../../src/app/captures/steps';
import type { Step } from '../../generated/api';
import { consoleLine, failure, START } from './entries';

describe('filterConsole', () => {
  const lines = [consoleLine('error', 'no total', '{"sum": null}'), consoleLine('warn', 'slow')];

  test('filters by level; none selected means all', () => {
    expect(filterConsole(lines, '', [])).toHaveLength(2);
    expect(filterConsole(lines, '', ['warn', 'info'])).toEqual([lines[1]]);
  });

  test('searches arguments and source, ignoring case', () => {
    expect(filterConsole(lines, ' TOTAL ', [])).toEqual([lines[0]]);
    expect(filterConsole(lines, 'app.js:10', [])).toHaveLength(2);
    expect(filterConsole(lines, 'total', ['warn'])).toEqual([]);
  });
});

describe('groupErrors', () => {
  test('groups by fingerprint and adds the counts', () => {
    const groups = groupErrors([
      failure(1),
      failure(2, { fingerprint: 'two' }),
      failure(3, { count: 4 } as never),
    ]);
    expect(groups.map(({ first, last, count }) => [first.ts - START, last.ts - START, count])).toEqual([
      [1, 3, 5],
      [2, 2, 1],
    ]);
  });

  test('groups errors without a fingerprint by their text', () => {
    const same = { fingerprint: undefined };
    const groups = groupErrors([
      failure(1, same),
      failure(2, same),
      failure(3, { ...same, message: 'other' }),
    ]);
    expect(groups.map(({ count }) => count)).toEqual([2, 1]);
  });

  test('a fingerprint can be any text', () => {
    expect(groupErrors([failure(1, { fingerprint: '__proto__' })])).toHaveLength(1);
  });
});

test('filterErrors searches name, message, source and stack', () => {
  const groups = groupErrors([failure(1, { stack: 'at checkout (app.js:1)' })]);
  for (const text of ['typeerror', 'undefined', 'app.js:10', 'checkout', '']) {
    expect(filterErrors(groups, text)).toHaveLength(1);
  }
  expect(filterErrors(groups, 'range')).toEqual([]);
});

test('errorText prefers the stack', () => {
  expect(errorText(failure(1, { stack: 'Error\n at x' }))).toBe('Error\n at x');
  expect(errorText(failure(1))).toBe('TypeError: x is undefined');
  expect(errorText(failure(1, { name: '' }))).toBe('x is undefined');
});

describe('health', () => {
  const health = (fields: object) =>
    ({ captured: 1, dropped: 0, reason: null, status: 'ok', ...fields }) as never;

  test('a complete stream has no gaps', () => {
    expect(describeGaps('console', health({}))).toBeNull();
    expect(describeGaps('console', health({ status: 'empty' }))).toBeNull();
  });

  test('describes status, reason and dropped entries', () => {
    expect(describeGaps('errors', health({ status: 'blocked', reason: 'error' }))).toBe(
      'Errors: not recorded: recording failed.',
    );
    expect(describeGaps('console', health({ status: 'partial', reason: 'limit', dropped: 1200 }))).toBe(
      'Console: recorded only in part: the size limit was reached. 1,200 entries were dropped because of size limits.',
    );
    expect(describeGaps('network', health({ dropped: 1 }))).toBe(
      '1 entry was dropped because of size limits.',
    );
  });

  test('a start within a second of the page is not late', () => {
    const late = (ms: number) =>
      describeLateStart({ history_started_at: START + ms, page_loaded_at: START } as never);
    expect(late(1_000)).toBeNull();
    expect(late(4_200)).toContain('4.20 s after the page loaded');
  });

  test('counts redactions', () => {
    expect(describeRedaction({ headers: 1, query: 2 } as never)).toBe(
      'Redacted before storage: 1 header value and 2 URL values.',
    );
    expect(describeRedaction({ headers: 0 } as never)).toBe('Nothing was redacted.');
  });
});

test('steps are copied as a numbered list', () => {
  const steps = [
    { number: 1, words: 'Opened /cart', url: 'https://shop.example/cart', target: null },
    { number: 2, words: 'Clicked button “Pay”', url: null, target: { selectors: ['#pay'] } },
  ] as unknown as Step[];
  expect(formatSteps(steps)).toBe('1. Opened /cart\n2. Clicked button “Pay”');
});
