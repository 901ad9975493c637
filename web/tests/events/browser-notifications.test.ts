import { expect, test, vi } from 'vitest';
import type { Notification } from '../../generated/api';

vi.mock('../../src/app/core/server/client', () => ({ api: {}, unwrap: (call: unknown) => call }));
vi.mock('../../src/app/core/navigation/router.svelte', () => ({ router: {} }));
vi.mock('../../src/app/core/server/event-stream.svelte', () => ({ eventStream: {} }));
vi.mock('../../src/app/events/browser-notifications/choice.svelte', () => ({ browserNotifications: {} }));
const { chooseNew } = await import('../../src/app/events/browser-notifications/watcher');

const item = (id: string, event: string) => ({ id, event_id: event }) as Notification;

test('what another tab has shown and earlier events are left out, and the oldest comes first', () => {
  const items = [item('n4', 'e4'), item('n3', 'e3'), item('n2', 'e2'), item('n1', 'e1')];
  const found = chooseNew(items, new Set(['e2', 'e3', 'e4']), ['n3']);
  expect(found.map(({ id }) => id)).toEqual(['n2', 'n4']);
});
