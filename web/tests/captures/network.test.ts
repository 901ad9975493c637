import { describe, expect, test } from 'vitest';
import type { Step } from '../../generated/api';
import { isFailed } from '../../src/shared/failures';
import { filterRequests, sortRequests, typeGroup } from '../../src/app/captures/network/requests';
import { axisMarks, findMarks, timeRange, waterfallBar } from '../../src/app/captures/network/waterfall';
import { request, START } from './entries';

describe('waterfall', () => {
  test('the range spans from the first start to the last end', () => {
    const requests = [request(500, { duration_ms: 100 }), request(0, { duration_ms: 900 }), request(100)];
    expect(timeRange(requests)).toEqual({ from: START, to: START + 900 });
  });

  test('the range reaches to the capture, unless that is long after the requests', () => {
    const requests = [request(0, { duration_ms: 1_000 })];
    expect(timeRange(requests, START + 10_000)).toEqual({ from: START, to: START + 10_400 });
    expect(timeRange(requests, START + 10_001)).toEqual({ from: START, to: START + 1_000 });
    expect(timeRange(requests, START + 500)).toEqual({ from: START, to: START + 1_000 });
  });

  test('the marks are what the person did in the range, and the capture', () => {
    const step = (at: number, kind: string) => ({ ts: START + at, kind }) as Step;
    const steps = [step(-5, 'click'), step(250, 'click'), step(300, 'scroll'), step(500, 'input')];
    const range = { from: START, to: START + 1_000 };
    const marks = findMarks(steps, START + 900, range);
    expect(marks).toMatchObject({ actions: [25, 50], captured: { left: 90, label: '900 ms' } });
    expect(marks.lines.match(/linear-gradient/g)).toHaveLength(3);
    expect(findMarks([], START + 5_000, range)).toEqual({ actions: [], captured: null, lines: 'none' });
  });

  test('a pending request does not shorten the range', () => {
    expect(timeRange([request(0), request(400, { duration_ms: null })])).toEqual({
      from: START,
      to: START + 400,
    });
  });

  test('the range is never empty', () => {
    expect(timeRange([request(0, { duration_ms: 0 })])).toEqual({ from: START, to: START + 1 });
  });

  test('bars are in percent of the range', () => {
    const range = { from: START, to: START + 1_000 };
    expect(waterfallBar(request(250, { duration_ms: 500 }), range)).toEqual({
      left: '25.00%',
      width: '50.00%',
    });
    expect(waterfallBar(request(0, { duration_ms: 1 }), range)).toEqual({ left: '0.00%', width: '0.10%' });
  });

  test('the axis has round figures, and none at its end', () => {
    const label = (ms: number) => axisMarks({ from: START, to: START + ms }).map((mark) => mark.label);
    expect(label(16_446)).toEqual(['0 s', '5 s', '10 s', '15 s']);
    expect(label(1_000)).toEqual(['0 ms', '500 ms']);
    expect(label(930)).toEqual(['0 ms', '500 ms']);
    expect(label(1)).toEqual(['0 ms']);
    expect(axisMarks({ from: START, to: START + 400 })[1]).toEqual({ label: '100 ms', left: '25.00%' });
  });

  test('the bar of a pending request reaches to the end', () => {
    const range = { from: START, to: START + 1_000 };
    expect(waterfallBar(request(600, { duration_ms: null }), range)).toEqual({
      left: '60.00%',
      width: '40.00%',
    });
  });
});

test.each([
  [{ status: 200 }, false],
  [{ status: 399 }, false],
  [{ status: 400 }, true],
  [{ status: 500 }, true],
  [{ status: null }, true],
  [{ status: 200, error: 'net::ERR_FAILED' }, true],
])('isFailed(%o)', (fields, failed) => {
  expect(isFailed(request(0, fields))).toBe(failed);
});

describe('filterRequests', () => {
  const requests = [
    request(1, { url: 'https://shop.example/cart', status: 500, type: 'xhr' }),
    request(2, { url: 'https://shop.example/app.js', type: 'script' }),
    request(3, { url: 'https://shop.example/hook', method: 'POST', type: 'ping' }),
  ];
  const applyFilter = (filter: Partial<Parameters<typeof filterRequests>[1]>) =>
    filterRequests(requests, { text: '', types: [], onlyFailed: false, ...filter }).map(
      ({ ts }) => ts - START,
    );

  test.each([
    [{}, [1, 2, 3]],
    [{ text: ' CART ' }, [1]],
    [{ text: 'post' }, [3]],
    [{ text: '500' }, [1]],
    [{ types: ['fetch'] }, [1]], // XHR and fetch are one group
    [{ types: ['other', 'script'] }, [2, 3]],
    [{ onlyFailed: true }, [1]],
    [{ onlyFailed: true, types: ['script'] }, []],
  ])('%o', (filter, expected) => {
    expect(applyFilter(filter)).toEqual(expected);
  });
});

test('typeGroup puts unknown types into "other"', () => {
  expect([typeGroup('xhr'), typeGroup('image'), typeGroup('ping')]).toEqual(['fetch', 'image', 'other']);
});

describe('sortRequests', () => {
  const requests = [
    request(1, { url: 'https://a.example/b', duration_ms: null, status: null }),
    request(2, { url: 'https://a.example/a', duration_ms: 5, status: 404 }),
    request(3, { url: 'https://a.example/c', duration_ms: 5, status: 200 }),
  ];
  const sortBy = (key: 'ts' | 'name' | 'status' | 'duration', isDescending = false) =>
    sortRequests(requests, { key, isDescending }).map(({ ts }) => ts - START);

  test('sorts by column and direction', () => {
    expect(sortBy('name')).toEqual([2, 1, 3]);
    expect(sortBy('name', true)).toEqual([3, 1, 2]);
    expect(sortBy('status')).toEqual([1, 3, 2]);
  });

  test('sorts pending requests as the longest, and equal ones by start', () => {
    expect(sortBy('duration')).toEqual([2, 3, 1]);
    expect(sortBy('duration', true)).toEqual([1, 2, 3]);
  });

  test('does not change the list', () => {
    sortBy('ts', true);
    expect(requests.map(({ ts }) => ts - START)).toEqual([1, 2, 3]);
  });
});
