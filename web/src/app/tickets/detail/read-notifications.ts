import { api, fetchAll, unwrap } from '../../core/server/client';
import { inbox } from '../../events/inbox.svelte';

/** Mark the notifications about a ticket as read: the person has it on the screen. */
export async function readNotifications(ticket: string): Promise<void> {
  if (inbox.unread === 0 || document.visibilityState !== 'visible') return;
  try {
    const unread = await fetchAll((cursor) =>
      api.GET('/notifications', { params: { query: { unread: true, limit: 100, cursor } } }),
    );
    const about = unread.filter((notification) => notification.ticket_id === ticket);
    if (about.length === 0) return;
    const paths = about.map(({ id }) => ({ notification_id: id }));
    await Promise.all(
      paths.map((path) => unwrap(api.POST('/notifications/{notification_id}/read', { params: { path } }))),
    );
    await inbox.refresh();
  } catch {
    // they stay unread
  }
}
