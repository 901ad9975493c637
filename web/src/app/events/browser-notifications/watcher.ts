import { withBase } from '../../core/navigation/base';
import type { Event as TicketEvent, Notification as Item } from '../../../../generated/api';
import { api, unwrap } from '../../core/server/client';
import { eventStream } from '../../core/server/event-stream.svelte';
import { router } from '../../core/navigation/router.svelte';
import { REASONS } from '../inbox-groups';
import { browserNotifications } from './choice.svelte';

const DEBOUNCE_MS = 400;
const PAGE_SIZE = 50;
const MAX_REMEMBERED = 100;
const SHOWN_KEY = 'browser-notifications-shown';
const SHOWING = 'ticketbox: showing a notification';
const VISIBLE = 'ticketbox: a visible tab';

/** Show what reaches the inbox while no tab of ticketbox is visible, until the returned function is called. */
export function watchInbox(): () => void {
  const stopHolding = holdLockWhileVisible();
  let waiting = new Set<string>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const unsubscribe = eventStream.subscribe((event: TicketEvent) => {
    if (!document.hidden || !event.ticket_id) return;
    waiting.add(event.id);
    timer ??= setTimeout(() => {
      const events = waiting;
      [timer, waiting] = [undefined, new Set()];
      showNew(events).catch(() => undefined); // the inbox has them
    }, DEBOUNCE_MS);
  });
  return () => {
    clearTimeout(timer);
    unsubscribe();
    stopHolding();
  };
}

/** Show the notifications of these events that no tab has shown. */
async function showNew(events: ReadonlySet<string>): Promise<void> {
  const query = { unread: true, limit: PAGE_SIZE };
  const { items } = await unwrap(api.GET('/notifications', { params: { query } }));
  await navigator.locks.request(SHOWING, async () => {
    const { held = [] } = await navigator.locks.query();
    if (!browserNotifications.isOn || held.some(({ name }) => name === VISIBLE)) return;
    const shown: string[] = JSON.parse(localStorage.getItem(SHOWN_KEY) ?? '[]');
    const found = chooseNew(items, events, shown);
    found.forEach(show);
    const remembered = [...shown, ...found.map(({ id }) => id)].slice(-MAX_REMEMBERED);
    localStorage.setItem(SHOWN_KEY, JSON.stringify(remembered));
  });
}

/** The notifications of these events that weren't shown, oldest first. */
export function chooseNew(items: Item[], events: ReadonlySet<string>, shown: string[]): Item[] {
  return items.filter((item) => events.has(item.event_id) && !shown.includes(item.id)).toReversed();
}

function show(item: Item): void {
  const author = item.by.token_label ?? item.by.user.name;
  const notification = new Notification(`${author} ${REASONS[item.reason]}`, {
    body: `${item.ticket_key} ${item.ticket_title}`,
    icon: withBase('/static/icon.svg'),
    tag: item.id,
  });
  notification.onclick = () => {
    window.focus();
    notification.close();
    router.go(`/tickets/${item.ticket_id}`);
  };
}

/** Hold a lock while this tab is visible, by which hidden ones know it. The returned function ends that. */
function holdLockWhileVisible(): () => void {
  let release: (() => void) | undefined;
  const update = () => {
    release?.();
    release = undefined;
    if (document.hidden) return;
    const hidden = new Promise<void>((resolve) => (release = resolve));
    void navigator.locks.request(VISIBLE, { mode: 'shared' }, () => hidden);
  };
  update();
  document.addEventListener('visibilitychange', update);
  return () => {
    document.removeEventListener('visibilitychange', update);
    release?.();
  };
}
