import type { Mutes, Notification, WorkQuestion } from '../../../generated/api';
import { api, unwrap } from '../core/server/client';
import { toasts } from '../core/toasts.svelte';
import { findOpenQuestion } from '../tickets/work/work';
import { heldAnswers } from '../tickets/work/held-answers.svelte';
import { runningSessions } from '../tickets/work/work-sessions.svelte';
import { formatClock } from '../ui/time/dates';
import { readClock } from '../ui/time/relative-time.svelte';
import { inbox } from './inbox.svelte';
import { divideGroups, groupByTicket, type InboxGroup } from './inbox-groups';

const PAGE_SIZE = 50;

/** The notifications of the inbox page, grouped by ticket, and what is muted. */
export class InboxList {
  /** Null until the first page is loaded. */
  items = $state.raw<Notification[] | null>(null);
  mutes = $state.raw<Mutes>({ ticket_ids: [], project_ids: [] });
  error = $state.raw<unknown>(null);
  readonly isSnoozed: boolean;
  readonly isDone: boolean;
  #cursor = $state<string | null>(null);

  readonly hasMore = $derived(this.#cursor !== null);
  readonly sections = $derived(
    divideGroups(
      groupByTicket(this.items ?? []),
      (ticket) => this.findQuestion(ticket) !== null,
      readClock(),
    ),
  );
  /** In the order of the page. */
  readonly groups = $derived(this.sections.flatMap(({ groups }) => groups));

  constructor(show: 'all' | 'snoozed' | 'done') {
    this.isSnoozed = show === 'snoozed';
    this.isDone = show === 'done';
  }

  /** The question that an agent asks on a ticket, and waits for the answer. */
  findQuestion(ticket: string): WorkQuestion | null {
    const session = runningSessions.find(ticket);
    return session ? findOpenQuestion(session) : null;
  }

  async load(more = false): Promise<void> {
    const cursor = (more && this.#cursor) || undefined;
    const query = {
      limit: PAGE_SIZE,
      cursor,
      snoozed: this.isSnoozed || undefined,
      read: this.isDone || undefined,
    };
    try {
      const page = await unwrap(api.GET('/notifications', { params: { query } }));
      this.items = more ? [...(this.items ?? []), ...page.items] : page.items;
      this.#cursor = page.next_cursor;
      if (!more) this.mutes = await unwrap(api.GET('/mutes'));
      this.error = null;
    } catch (problem) {
      this.error = problem;
    }
  }

  /** Mark all notifications about a ticket as read. */
  markRead(group: InboxGroup): Promise<void> {
    return this.#change(() =>
      Promise.all(
        group.unread.map(({ id }) =>
          api.POST('/notifications/{notification_id}/read', { params: { path: { notification_id: id } } }),
        ),
      ),
    );
  }

  /** Mark the newest notification about a ticket as unread, or all that are snoozed. */
  markUnread(group: InboxGroup): Promise<void> {
    return this.#change(() =>
      Promise.all(
        (this.isSnoozed ? group.items : [group.newest]).map(({ id }) =>
          api.POST('/notifications/{notification_id}/unread', { params: { path: { notification_id: id } } }),
        ),
      ),
    );
  }

  /** Hide all notifications about a ticket until a time. */
  snooze(group: InboxGroup, until: Date): Promise<void> {
    const body = { until: until.toISOString() };
    return this.#change(
      () =>
        Promise.all(
          group.items.map(({ id }) =>
            api.POST('/notifications/{notification_id}/snooze', {
              params: { path: { notification_id: id } },
              body,
            }),
          ),
        ),
      `Snoozed ${group.newest.ticket_key} until ${formatClock(body.until)}`,
    );
  }

  markAllRead(): Promise<void> {
    return this.#change(() => api.POST('/notifications/read'));
  }

  /** Send an answer, unless it is taken back. Raises Problem. */
  async answer(group: InboxGroup, question: WorkQuestion, text: string, note?: string): Promise<void> {
    let isSent = true;
    try {
      isSent = await heldAnswers.send(question, text, note);
      if (isSent) await this.markRead(group);
    } finally {
      if (isSent) await Promise.all([runningSessions.refresh(), inbox.refresh(), this.load()]);
    }
  }

  muteTicket(id: string, key: string): Promise<void> {
    const params = { path: { ticket_id: id } };
    return this.#change(() => api.PUT('/tickets/{ticket_id}/mute', { params }), `Muted ${key}`);
  }

  muteProject(id: string, name: string): Promise<void> {
    const params = { path: { project_id: id } };
    return this.#change(() => api.PUT('/projects/{project_id}/mute', { params }), `Muted ${name}`);
  }

  unmuteTicket(id: string): Promise<void> {
    return this.#change(() =>
      api.DELETE('/tickets/{ticket_id}/mute', { params: { path: { ticket_id: id } } }),
    );
  }

  unmuteProject(id: string): Promise<void> {
    return this.#change(() =>
      api.DELETE('/projects/{project_id}/mute', { params: { path: { project_id: id } } }),
    );
  }

  /** Run a change, then load the list again. */
  async #change(run: () => Promise<unknown>, message?: string): Promise<void> {
    try {
      await run();
      if (message) toasts.show(message);
      await Promise.all([inbox.refresh(), this.load()]);
    } catch (problem) {
      toasts.showError(problem);
    }
  }
}
