import { workspace } from '../core/workspace.svelte';

interface RecentTicket {
  id: string;
  key: string;
  title: string;
}

const MOST = 5;
const name = () => `recent-tickets-${workspace.me?.user.id}`;

/** The tickets that the person opened last in this tab, the newest first. */
export function listRecentTickets(): RecentTicket[] {
  return JSON.parse(sessionStorage.getItem(name()) ?? '[]');
}

export function rememberTicket({ id, key, title }: RecentTicket): void {
  const others = listRecentTickets().filter((each) => each.id !== id);
  sessionStorage.setItem(name(), JSON.stringify([{ id, key, title }, ...others].slice(0, MOST)));
}
