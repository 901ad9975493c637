import { expect, test } from 'vitest';
import { changeEach } from '../../src/app/tickets/list/bulk-changes';

test('a ticket that fails does not stop the others', async () => {
  const tried: string[] = [];
  const outcomes = await changeEach(['t-1', 't-2', 't-3'], ({ path }) => {
    tried.push(path.ticket_id);
    return path.ticket_id === 't-2' ? Promise.reject(new Error('It has changed')) : Promise.resolve();
  });
  expect(tried).toEqual(['t-1', 't-2', 't-3']);
  expect(outcomes).toEqual([
    { id: 't-1', ok: true },
    { id: 't-2', ok: false, why: expect.any(String) },
    { id: 't-3', ok: true },
  ]);
});
