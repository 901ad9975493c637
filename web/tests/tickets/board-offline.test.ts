import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Event } from '../../generated/api';
import { toasts } from '../../src/app/core/toasts.svelte';

vi.mock('../../src/app/core/server/client', () => ({
  api: { GET: () => Promise.reject(new TypeError('Failed to fetch')) },
  unwrap: (call: Promise<unknown>) => call,
}));
vi.mock('../../src/app/companies/labels/company-labels.svelte', () => ({ changesTickets: () => false }));
vi.mock('../../src/app/core/workspace.svelte', () => ({ workspace: { project: () => undefined } }));
const { parseFilters } = await import('../../src/app/tickets/list/filters');
const { Board } = await import('../../src/app/tickets/board/board.svelte');

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

test('changes that cannot be loaded are reported once', async () => {
  const showError = vi.spyOn(toasts, 'showError').mockReturnValue(undefined);
  const board = new Board('proj_1', parseFilters(new URLSearchParams()));
  for (const ticket_id of ['t-1', 't-2', 't-3'])
    board.handleEvent({ type: 'ticket.updated', project_id: 'proj_1', ticket_id } as Event);
  await vi.runAllTimersAsync();
  expect(showError).toHaveBeenCalledTimes(1);
});
