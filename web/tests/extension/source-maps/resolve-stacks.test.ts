import { beforeEach, expect, test, vi } from 'vitest';
import {
  MAX_BYTES,
  MAX_MAP_BYTES,
  MAX_SCRIPTS,
  MAX_TIME_MS,
  resolveStacks,
} from '../../../src/extension/source-maps/resolve-stacks';
import type { Draft } from '../../../src/extension/storage';

vi.mock('../../../src/extension/storage', () => ({ appState: { get: () => Promise.resolve([]) } }));

type Result = { map: string | null } | { text: string; bytes: number } | { problem: string };
interface Load {
  address: string;
  isScript: boolean;
  bytes: number;
  milliseconds: number;
}

const ORIGIN = 'https://shop.example';
const MAP = JSON.stringify({ version: 3, sources: ['cart.js'], names: ['total'], mappings: 'AAAAA' });
let loads: Load[] = [];
let answer: (load: Load) => Result | Promise<Result>;

beforeEach(() => {
  loads = [];
  answer = ({ isScript }) => (isScript ? { map: 'app.js.map' } : loadMap(MAP.length));
  const executeScript = async ({ args }: { args: [string, string, boolean, number, number] }) => {
    const [address, , isScript, bytes, milliseconds] = args;
    const load = { address: address.split('#')[0]!, isScript, bytes, milliseconds };
    loads.push(load);
    return [{ result: await answer(load) }];
  };
  vi.stubGlobal('chrome', {
    scripting: { executeScript },
    permissions: { contains: () => Promise.resolve(false) },
  });
});

/** What the load of a map of so many bytes finds. */
const loadMap = (bytes: number): Result => ({ text: MAP, bytes });

/** A draft with an error whose stack goes through so many scripts. */
function createDraft(scripts: number): Draft {
  const frames = Array.from({ length: scripts }, (_, index) => ({
    url: `${ORIGIN}/${index}.js`,
    function: 't',
    line: 1,
    column: 1,
  }));
  return {
    id: 'one',
    tab: 7,
    envelope: { page: { url: `${ORIGIN}/cart` }, health: {} },
    streams: { console: [], network: [], actions: [], errors: [{ seq: 1, frames, ts: 1, kind: 'error' }] },
  } as unknown as Draft;
}

test('only so many scripts are loaded, and the health says that there were more', async () => {
  const health = (await resolveStacks(createDraft(MAX_SCRIPTS + 5)))!.health;
  expect(loads.filter(({ isScript }) => isScript)).toHaveLength(MAX_SCRIPTS);
  expect(health).toEqual({ status: 'partial', reason: 'limit', captured: MAX_SCRIPTS, dropped: 1 });
  expect((await resolveStacks(createDraft(MAX_SCRIPTS)))!.health.status).toBe('ok');
});

test('each load has the limits of one map and of time', async () => {
  await resolveStacks(createDraft(2));
  expect(loads.map(({ bytes }) => bytes)).toEqual(Array.from({ length: 4 }, () => MAX_MAP_BYTES));
  expect(loads.every(({ milliseconds }) => milliseconds > 0 && milliseconds <= MAX_TIME_MS)).toBe(true);
});

test('all maps together have exactly their limit, although several load in parallel', async () => {
  const size = MAX_BYTES / 4;
  let [used, reserved, most] = [0, 0, 0];
  answer = async ({ isScript, bytes }) => {
    if (isScript) return { map: 'app.js.map' };
    reserved += bytes;
    most = Math.max(most, used + reserved);
    await new Promise((resolve) => setTimeout(resolve));
    reserved -= bytes;
    if (size > bytes) return { problem: 'limit' };
    used += size;
    return loadMap(size);
  };
  const health = (await resolveStacks(createDraft(6)))!.health;
  expect([used, most]).toEqual([MAX_BYTES, MAX_BYTES]);
  expect(health).toEqual({ status: 'partial', reason: 'limit', captured: 4, dropped: 2 });
});

test('a map that was not read leaves its bytes to the others', async () => {
  answer = ({ isScript, address, bytes }) => {
    if (isScript) return { map: `${address}.map` };
    if (/[01]\.js/.test(address)) return { problem: address.includes('/0.js') ? 'limit' : 'missing' };
    return bytes < MAX_MAP_BYTES ? { problem: 'limit' } : loadMap(MAX_MAP_BYTES);
  };
  const { captured, dropped } = (await resolveStacks(createDraft(5)))!.health;
  expect([captured, dropped]).toEqual([3, 2]);
});

test('a map in a `data:` address counts for the limit of all', async () => {
  const data = `data:application/json,${MAP.replaceAll('"', '%22')}`;
  answer = ({ isScript, address, bytes }) => {
    if (isScript) return { map: address.endsWith('/0.js') ? data : 'app.js.map' };
    return bytes < MAX_MAP_BYTES ? { problem: 'limit' } : loadMap(MAX_MAP_BYTES);
  };
  const { captured, dropped } = (await resolveStacks(createDraft(1 + MAX_BYTES / MAX_MAP_BYTES)))!.health;
  expect([captured, dropped]).toEqual([3, 1]);
});

test('a page that never answers ends with the time limit', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  try {
    answer = () => new Promise<Result>(() => undefined);
    const resolving = resolveStacks(createDraft(9));
    await vi.advanceTimersByTimeAsync(MAX_TIME_MS);
    expect((await resolving)!.health).toEqual({
      status: 'blocked',
      reason: 'limit',
      captured: 0,
      dropped: 9,
    });
    expect(loads).toHaveLength(4);
  } finally {
    vi.useRealTimers();
  }
});

test('a `data:` address that is longer than a map may be is not read', async () => {
  answer = () => ({ map: `data:application/json,${' '.repeat(MAX_MAP_BYTES)}` });
  expect((await resolveStacks(createDraft(1)))!.health.reason).toBe('limit');
});

test('a map that is none is ignored, and the others are used', async () => {
  answer = ({ isScript, address }) => {
    if (isScript) return { map: `${address}.map` };
    return address.endsWith('/0.js.map') ? { text: '<!doctype html>', bytes: 15 } : loadMap(MAP.length);
  };
  const { frames, health } = (await resolveStacks(createDraft(2)))!;
  expect(frames[0]![1].map(({ original }) => original?.file)).toEqual([undefined, 'cart.js']);
  expect(health.captured).toBe(1);
});
