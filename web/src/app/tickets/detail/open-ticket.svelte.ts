import type { Asset, Comment, Event, Ticket, TicketDetail } from '../../../../generated/api';
import { api, data, everything } from '../../core/client';
import { Problem } from '../../core/problem';
import { workspace } from '../../core/workspace.svelte';

const BROUGHT = 50; // comments and events that come with the ticket itself
const TRIES = 5;

type Fields = Partial<Pick<Ticket, 'title' | 'description' | 'priority' | 'labels' | 'resolved'>>;

/** Somebody else changed the same text meanwhile; `theirs` is the ticket as it is now. */
export class Overtaken extends Error {
  readonly theirs: Ticket;

  constructor(theirs: Ticket) {
    super('Somebody else changed this at the same time.');
    this.theirs = theirs;
  }
}

/** The ticket on the screen with all that belongs to it, kept fresh by its events. */
export class OpenTicket {
  readonly id: string;
  ticket = $state.raw<TicketDetail | null>(null);
  comments = $state.raw<Comment[]>([]);
  history = $state.raw<Event[]>([]);
  attachments = $state.raw<Asset[]>([]);
  error = $state.raw<unknown>(null);
  /** Comments of others that came in while the page was open. */
  fresh = $state.raw<ReadonlySet<string>>(new Set());
  /** Counts how often marks were saved, by anybody. */
  annotated = $state(0);
  #refreshing: Promise<void> | null = null;
  #again = false;

  readonly editable = $derived(
    this.ticket?.status === 'active' && workspace.may(this.ticket.company_id, 'member'),
  );
  readonly claim = $derived(this.ticket?.claim ?? null);

  constructor(id: string) {
    this.id = id;
  }

  /** What a signed-in person wrote as themselves, by whichever way. */
  isOwn(comment: Comment): boolean {
    return comment.by.user.id === workspace.me?.user.id;
  }

  /** Read everything anew. Several calls at once become two reads: the one under way, and one after it. */
  refresh(): Promise<void> {
    if (this.#refreshing) {
      this.#again = true;
      return this.#refreshing;
    }
    this.#refreshing = this.#read().finally(() => {
      this.#refreshing = null;
      if (!this.#again) return;
      this.#again = false;
      void this.refresh();
    });
    return this.#refreshing;
  }

  heard(event: Event): void {
    if (event.ticket_id !== this.id) return;
    if (event.type === 'annotations.saved') this.annotated += 1;
    void this.refresh();
  }

  async #read(): Promise<void> {
    try {
      const path = { ticket_id: this.id };
      const query = { status: 'all', include: ['comments', 'history'] as ('comments' | 'history')[] };
      const [ticket, attachments] = await Promise.all([
        data(api.GET('/tickets/{ticket_id}', { params: { path, query } })),
        data(api.GET('/tickets/{ticket_id}/attachments', { params: { path } })),
      ]);
      const [comments, history] = await Promise.all([
        this.#all(ticket.comments!, (cursor) =>
          api.GET('/tickets/{ticket_id}/comments', { params: { path, query: { cursor, limit: 100 } } }),
        ),
        this.#all(ticket.history!, (cursor) =>
          api.GET('/tickets/{ticket_id}/history', { params: { path, query: { cursor, limit: 100 } } }),
        ),
      ]);
      if (this.ticket) this.#markFresh(comments);
      [this.ticket, this.comments, this.history] = [ticket, comments, history];
      this.attachments = attachments.items;
      this.error = null;
    } catch (error) {
      // what is on the screen stays there through a lost connection, but not through a lost permission
      if (!this.ticket || (error instanceof Problem && error.status === 404)) this.error = error;
    }
  }

  #all<T>(brought: T[], next: Parameters<typeof everything<T>>[0]): Promise<T[]> {
    return brought.length < BROUGHT ? Promise.resolve(brought) : everything(next);
  }

  #markFresh(comments: Comment[]): void {
    const known = new Set(this.comments.map((comment) => comment.id));
    const news = comments.filter(
      (comment) => !known.has(comment.id) && (!this.isOwn(comment) || comment.by.token_label !== null),
    );
    if (news.length > 0) this.fresh = new Set([...this.fresh, ...news.map((comment) => comment.id)]);
  }

  /** Show a write's answer at once; the refresh brings what it doesn't hold. */
  #took(ticket: Ticket): Ticket {
    this.ticket = { ...this.ticket!, ...ticket, capture: this.ticket!.capture };
    void this.refresh();
    return ticket;
  }

  /**
   * Change fields, computed from the ticket as it is: when somebody was quicker they are computed again.
   * Raises Problem.
   */
  async change(changes: (ticket: Ticket) => Fields): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        await this.#update(changes(this.ticket!), this.ticket!.version);
        return;
      } catch (error) {
        if (!isConflict(error) || tries === TRIES) throw error;
        this.ticket = await this.#now();
      }
    }
  }

  /** Replace a text that was read as `base`. Raises Overtaken when somebody else changed that text meanwhile. */
  async rewrite(field: 'title' | 'description', text: string, base: string): Promise<void> {
    let { version } = this.ticket!;
    if (this.ticket![field] !== base) throw new Overtaken(this.ticket!);
    for (let tries = 1; ; tries++) {
      try {
        await this.#update({ [field]: text }, version);
        return;
      } catch (error) {
        if (!isConflict(error) || tries === TRIES) throw error;
        const now = await this.#now();
        this.ticket = now;
        if (now[field] !== base) throw new Overtaken(now);
        version = now.version;
      }
    }
  }

  async #now(): Promise<TicketDetail> {
    const params = { path: { ticket_id: this.id }, query: { status: 'all', include: ['comments' as const] } };
    return data(api.GET('/tickets/{ticket_id}', { params }));
  }

  async #update(fields: Fields, version: number): Promise<void> {
    const params = { path: { ticket_id: this.id }, header: { 'If-Match': `"${version}"` } };
    this.#took(await data(api.PATCH('/tickets/{ticket_id}', { params, body: fields })));
  }

  async move(column: string): Promise<void> {
    const params = { path: { ticket_id: this.id } };
    this.#took(await data(api.POST('/tickets/{ticket_id}/move', { params, body: { column_id: column } })));
  }

  async assign(user: string, assigned: boolean): Promise<void> {
    const params = { path: { ticket_id: this.id, user_id: user } };
    const answer = assigned
      ? api.PUT('/tickets/{ticket_id}/assignees/{user_id}', { params })
      : api.DELETE('/tickets/{ticket_id}/assignees/{user_id}', { params });
    this.#took(await data(answer));
  }

  async startWork(branch?: string): Promise<void> {
    const params = { path: { ticket_id: this.id } };
    const body = branch ? { branch } : {};
    this.#took(await data(api.POST('/tickets/{ticket_id}/work', { params, body })));
  }

  async stopWork(): Promise<void> {
    const params = { path: { ticket_id: this.id } };
    this.#took(await data(api.DELETE('/tickets/{ticket_id}/work', { params })));
  }

  async archive(): Promise<void> {
    const params = { path: { ticket_id: this.id } };
    this.#took(await data(api.POST('/tickets/{ticket_id}/archive', { params })));
  }

  async restore(): Promise<void> {
    const params = { path: { ticket_id: this.id } };
    this.#took(await data(api.POST('/tickets/{ticket_id}/restore', { params })));
  }

  async comment(body: string): Promise<void> {
    const params = { path: { ticket_id: this.id } };
    const comment = await data(api.POST('/tickets/{ticket_id}/comments', { params, body: { body } }));
    if (!this.comments.some((each) => each.id === comment.id)) this.comments = [...this.comments, comment];
    void this.refresh();
  }

  async editComment(id: string, body: string): Promise<void> {
    const params = { path: { comment_id: id } };
    const comment = await data(api.PATCH('/comments/{comment_id}', { params, body: { body } }));
    this.comments = this.comments.map((each) => (each.id === id ? comment : each));
    void this.refresh();
  }

  async deleteComment(id: string): Promise<void> {
    await api.DELETE('/comments/{comment_id}', { params: { path: { comment_id: id } } });
    this.comments = this.comments.filter((each) => each.id !== id);
    void this.refresh();
  }
}

function isConflict(error: unknown): boolean {
  return error instanceof Problem && error.code === 'version_conflict';
}
