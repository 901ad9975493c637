import { beforeEach, describe, expect, test, vi } from 'vitest';
import { MAX_SELECTED, reverseSort, TicketTable } from '../../src/app/tickets/list/ticket-table.svelte';
import { ticket } from './tickets';

const { GET } = vi.hoisted(() => ({ GET: vi.fn() }));
vi.mock('../../src/app/core/server/client', () => ({
  api: { GET },
  unwrap: async (call: Promise<{ data: unknown }>) => (await call).data,
}));

vi.mock('../../src/app/companies/labels/company-labels.svelte', () => ({ companyLabels: {} }));
vi.mock('../../src/app/core/workspace.svelte', () => ({ workspace: { project: () => undefined } }));

let table: TicketTable;

/** Answer the next request with tickets of these IDs. */
function respond(ids: string[], next_cursor: string | null = null) {
  GET.mockResolvedValueOnce({ data: { items: ids.map((id) => ticket(id)), next_cursor } });
}

function getSentQuery(): Record<string, unknown> {
  return GET.mock.lastCall![1].params.query;
}

function ids(): string[] | undefined {
  return table.tickets?.map(({ id }) => id);
}

beforeEach(() => {
  GET.mockReset();
  table = new TicketTable('proj_1', 'active', {
    assignee: ['me'],
    label: [],
    unlabeled: null,
    priority: [],
    resolved: null,
    due: null,
  });
});

describe('loading', () => {
  test('pages are appended', async () => {
    respond(['a', 'b'], 'next');
    await table.load();
    expect(getSentQuery()).toMatchObject({
      project_id: 'proj_1',
      status: 'active',
      assignee: ['me'],
      sort: '-updated',
    });
    expect([ids(), table.groups![0]!.list.hasMore]).toEqual([['a', 'b'], true]);
    respond(['c']);
    await table.groups![0]!.list.load();
    expect(getSentQuery()).toMatchObject({ cursor: 'next' });
    expect([ids(), table.groups![0]!.list.hasMore]).toEqual([['a', 'b', 'c'], false]);
  });

  test('an earlier request that finishes late is ignored', async () => {
    let finish: (answer: unknown) => void = () => undefined;
    GET.mockReturnValueOnce(new Promise((resolve) => (finish = resolve)));
    const late = table.load();
    respond(['new']);
    await table.load();
    finish({ data: { items: [ticket('old')], next_cursor: null } });
    await late;
    expect(ids()).toEqual(['new']);
  });

  test('an error keeps the tickets', async () => {
    respond(['a'], 'next');
    await table.load();
    GET.mockRejectedValueOnce(new Error('offline'));
    await table.groups![0]!.list.load();
    expect([ids(), table.groups![0]!.list.error]).toEqual([['a'], new Error('offline')]);
  });

  test('a sorted table asks for the order', async () => {
    GET.mockResolvedValue({ data: { items: [], next_cursor: null } });
    await table.show('-due', null);
    expect(getSentQuery()).toMatchObject({ sort: '-due', cursor: undefined });
  });

  test('groups are loaded with their own filters, and their tickets are selected once', async () => {
    GET.mockImplementation((_, { params }: { params: { query: { priority: string[] } } }) => {
      const items = params.query.priority[0] === 'high' ? [ticket('a'), ticket('b')] : [ticket('a')];
      return Promise.resolve({ data: { items, next_cursor: null } });
    });
    await table.show('-updated', 'priority');
    expect(table.groups!.map(({ label }) => label)).toEqual([
      'Urgent',
      'High',
      'Medium',
      'Low',
      'No priority',
    ]);
    table.selectAll();
    expect([...table.selected]).toEqual(['a', 'b']);
    expect(table.isAllSelected).toBe(true);
  });

  test('the head of a column sorts by the most important first, then reverses', () => {
    expect(reverseSort('-updated', 'priority')).toBe('-priority');
    expect(reverseSort('-priority', 'priority')).toBe('priority');
    expect(reverseSort('-updated', 'due')).toBe('due');
    expect(reverseSort('due', 'due')).toBe('-due');
  });
});

describe('selection', () => {
  test('has the tickets in the order of their selection', async () => {
    respond(['a', 'b', 'c']);
    await table.load();
    table.select('c', true);
    table.select('a', true);
    expect(table.selectedTickets.map(({ id }) => id)).toEqual(['c', 'a']);
    table.select('c', false);
    expect([...table.selected]).toEqual(['a']);
  });

  test('all tickets are selected up to the limit of a bulk call', async () => {
    respond(Array.from({ length: MAX_SELECTED + 1 }, (_, index) => `t${index}`));
    await table.load();
    expect(table.isAllSelected).toBe(false);
    table.selectAll();
    expect(table.selected.size).toBe(MAX_SELECTED);
    expect(table.isAllSelected).toBe(true);
  });

  test('a changed ticket is shown as it is now, before all are loaded again', async () => {
    vi.useFakeTimers();
    respond(['a', 'b']);
    await table.load();
    table.select('b', true);
    respond(['b', 'a']);
    table.update({ ...ticket('b'), priority: 'urgent' });
    expect(table.selectedTickets.map(({ priority }) => priority)).toEqual(['urgent']);
    expect(GET).toHaveBeenCalledTimes(1);
    await vi.runAllTimersAsync();
    vi.useRealTimers();
    expect(ids()).toEqual(['b', 'a']);
    expect([...table.selected]).toEqual(['b']);
  });

  test('loading again keeps what is still listed, and so does loading more', async () => {
    respond(['a'], 'next');
    await table.load();
    table.selectAll();
    respond(['b']);
    await table.groups![0]!.list.load();
    expect([...table.selected]).toEqual(['a']);
    table.select('b', true);
    respond(['b', 'c']);
    await table.load();
    expect([...table.selected]).toEqual(['b']);
  });
});
