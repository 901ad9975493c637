import type {
  Asset,
  By,
  Comment,
  Event,
  Ticket,
  TicketDetail,
  TicketLink,
  Verification,
  WorkSession,
} from '../../../../generated/api';
import { changesTickets } from '../../companies/labels/company-labels.svelte';
import { api, unwrap, fetchAll } from '../../core/server/client';
import { router } from '../../core/navigation/router.svelte';
import { Problem } from '../../core/server/problem';
import { workspace } from '../../core/workspace.svelte';
import type { TicketChanges } from '../fields';
import { findSession, hasOutcome, isAgent, type Session } from '../work/work';
import { loadNewestSession } from '../work/work-sessions.svelte';
import { EditConflictError, isConflict } from './edit-conflict';

const INCLUDED = 50; // the comments and events that the ticket includes
const MAX_TRIES = 5;
const PARTS: ('comments' | 'history' | 'criteria')[] = ['comments', 'history', 'criteria'];

/** The ticket on the screen with its comments, history and attachments. Events keep it up to date. */
export class OpenTicket {
  readonly id: string;
  ticket = $state.raw<TicketDetail | null>(null);
  comments = $state.raw<Comment[]>([]);
  history = $state.raw<Event[]>([]);
  attachments = $state.raw<Asset[]>([]);
  /** The newest verifications, newest first. */
  verifications = $state.raw<Verification[]>([]);
  error = $state.raw<unknown>(null);
  /** Comments of others that arrived while the page was open. */
  newCommentIds = $state.raw<ReadonlySet<string>>(new Set());
  /** Counts how often anyone saved annotations. */
  annotationSaves = $state(0);
  #newest = $state.raw<WorkSession | null>(null);
  #refreshing: Promise<void> | null = null;
  #again = false;

  readonly editable = $derived(
    this.ticket?.status === 'active' && workspace.hasRole(this.ticket.company_id, 'member'),
  );
  /** The capture that is shown: the one that the address names, else the richest. */
  readonly captureId: string | null = $derived.by(() => {
    const wanted = router.query.get('capture');
    const isHere = this.ticket?.captures.some(({ id }) => id === wanted);
    return isHere ? wanted : (this.ticket?.capture?.id ?? null);
  });
  readonly claim = $derived(this.ticket?.claim ?? null);
  /** Whether an agent or a script holds the claim. */
  readonly isAgentAtWork = $derived(this.claim !== null && isAgent(this.claim.by));
  /** The work of an agent on the ticket: the running session, else the last one, if it has something to show. */
  readonly session: Session | null = $derived(
    (this.ticket && findSession(this.ticket, this.#newest)) ??
      (this.claim === null && this.#newest && hasOutcome(this.#newest) ? this.#newest : null),
  );

  constructor(id: string) {
    this.id = id;
  }

  /** Whether the signed-in user is the author. */
  isOwn(comment: Comment): boolean {
    return comment.by.user.id === workspace.me?.user.id;
  }

  /** Whether the signed-in user may delete what somebody added: their own, and as an admin everything. */
  canDelete({ user }: By): boolean {
    return (
      this.editable &&
      (user.id === workspace.me?.user.id || workspace.hasRole(this.ticket!.company_id, 'admin'))
    );
  }

  /** Load everything again. Concurrent calls become two loads: the running one, and one after it. */
  refresh(): Promise<void> {
    if (this.#refreshing) {
      this.#again = true;
      return this.#refreshing;
    }
    this.#refreshing = this.#load().finally(() => {
      this.#refreshing = null;
      if (!this.#again) return;
      this.#again = false;
      void this.refresh();
    });
    return this.#refreshing;
  }

  handleEvent(event: Event): void {
    if (!this.#isAffectedBy(event)) return;
    if (event.type === 'annotations.saved' && event.ticket_id === this.id) this.annotationSaves += 1;
    void this.refresh();
  }

  /** Whether an event changes what the page shows: the ticket, one that it links to, or a label. */
  #isAffectedBy(event: Event): boolean {
    const changed = event.type === 'ticket.deleted' ? event.data['ticket_id'] : event.ticket_id;
    const shown = [this.id, ...(this.ticket?.links ?? []).map((link) => link.ticket.id)];
    return shown.includes(changed as string) || changesTickets(event, this.ticket?.company_id);
  }

  async #load(): Promise<void> {
    try {
      const path = { ticket_id: this.id };
      const query = { status: 'all' as const, include: PARTS };
      const [ticket, attachments, verifications, session] = await Promise.all([
        unwrap(api.GET('/tickets/{ticket_id}', { params: { path, query } })),
        unwrap(api.GET('/tickets/{ticket_id}/attachments', { params: { path } })),
        unwrap(api.GET('/tickets/{ticket_id}/verifications', { params: { path } })),
        loadNewestSession(this.id),
      ]);
      const [comments, history] = await Promise.all([
        this.#fetchRest(ticket.comments!, (cursor) =>
          api.GET('/tickets/{ticket_id}/comments', { params: { path, query: { cursor, limit: 100 } } }),
        ),
        this.#fetchRest(ticket.history!, (cursor) =>
          api.GET('/tickets/{ticket_id}/history', { params: { path, query: { cursor, limit: 100 } } }),
        ),
      ]);
      if (this.ticket) this.#markNewComments(comments);
      [this.ticket, this.comments, this.history] = [ticket, comments, history];
      this.attachments = attachments.items;
      this.verifications = verifications.items;
      this.#newest = session;
      this.error = null;
    } catch (error) {
      // keep the page on a lost connection, but not on lost access
      if (!this.ticket || (error instanceof Problem && error.status === 404)) this.error = error;
    }
  }

  #fetchRest<T>(included: T[], next: Parameters<typeof fetchAll<T>>[0]): Promise<T[]> {
    return included.length < INCLUDED ? Promise.resolve(included) : fetchAll(next);
  }

  #markNewComments(comments: Comment[]): void {
    const known = new Set(this.comments.map((comment) => comment.id));
    const arrived = comments.filter(
      (comment) => !known.has(comment.id) && (!this.isOwn(comment) || comment.by.token_label !== null),
    );
    if (arrived.length > 0)
      this.newCommentIds = new Set([...this.newCommentIds, ...arrived.map((comment) => comment.id)]);
  }

  /** Show the response of a write, then refresh the rest. */
  #applyTicket(ticket: Ticket): Ticket {
    this.ticket = { ...this.ticket!, ...ticket, capture: this.ticket!.capture };
    void this.refresh();
    return ticket;
  }

  /**
   * Update fields. `changes` computes them from the saved ticket, again after a version conflict.
   * Raises Problem.
   */
  async updateFields(changes: (ticket: Ticket) => TicketChanges): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        await this.#update(changes(this.ticket!), this.ticket!.version);
        return;
      } catch (error) {
        if (!isConflict(error) || tries === MAX_TRIES) throw error;
        this.ticket = await this.fetchTicket();
      }
    }
  }

  /** Replace a text that was loaded as `base`. Raises EditConflictError if someone else changed it. */
  async saveText(field: 'title' | 'description', text: string, base: string): Promise<void> {
    let { version } = this.ticket!;
    if (this.ticket![field] !== base) throw new EditConflictError(this.ticket!);
    for (let tries = 1; ; tries++) {
      try {
        await this.#update({ [field]: text }, version);
        return;
      } catch (error) {
        if (!isConflict(error) || tries === MAX_TRIES) throw error;
        const now = await this.fetchTicket();
        this.ticket = now;
        if (now[field] !== base) throw new EditConflictError(now);
        version = now.version;
      }
    }
  }

  /** Read the ticket with its comments, or with what the capture shown recorded. Raises Problem. */
  fetchTicket(include: 'comments' | 'capture' = 'comments'): Promise<TicketDetail> {
    const capture_id = include === 'capture' ? this.captureId : null;
    const parts = [include, 'criteria' as const];
    const query = { status: 'all' as const, include: parts, ...(capture_id && { capture_id }) };
    const params = { path: { ticket_id: this.id }, query };
    return unwrap(api.GET('/tickets/{ticket_id}', { params }));
  }

  async #update(fields: TicketChanges, version: number): Promise<void> {
    const params = { path: { ticket_id: this.id }, header: { 'If-Match': `"${version}"` } };
    this.#applyTicket(await unwrap(api.PATCH('/tickets/{ticket_id}', { params, body: fields })));
  }

  async move(column: string): Promise<void> {
    const params = { path: { ticket_id: this.id } };
    this.#applyTicket(
      await unwrap(api.POST('/tickets/{ticket_id}/move', { params, body: { column_id: column } })),
    );
  }

  async setAssigned(user: string, assigned: boolean): Promise<void> {
    const params = { path: { ticket_id: this.id, user_id: user } };
    const answer = assigned
      ? api.PUT('/tickets/{ticket_id}/assignees/{user_id}', { params })
      : api.DELETE('/tickets/{ticket_id}/assignees/{user_id}', { params });
    this.#applyTicket(await unwrap(answer));
  }

  /** Watch the ticket, or stop watching it. */
  async setFollowed(followed: boolean): Promise<void> {
    const params = { path: { ticket_id: this.id } };
    const { watchers } = await unwrap(
      followed
        ? api.PUT('/tickets/{ticket_id}/follow', { params })
        : api.DELETE('/tickets/{ticket_id}/follow', { params }),
    );
    this.ticket = { ...this.ticket!, watchers };
  }

  async stopWork(): Promise<void> {
    const params = { path: { ticket_id: this.id } };
    this.#applyTicket(await unwrap(api.DELETE('/tickets/{ticket_id}/work', { params })));
  }

  /** Add the project's agent label, and move the ticket to the top of the first column of kind `todo`. */
  async sendToAgent(): Promise<void> {
    const params = { path: { ticket_id: this.id } };
    this.#applyTicket(await unwrap(api.POST('/tickets/{ticket_id}/send-to-agent', { params })));
  }

  async link(kind: TicketLink['kind'], other: string): Promise<void> {
    const params = { path: { ticket_id: this.id } };
    await api.POST('/tickets/{ticket_id}/links', { params, body: { kind, other } });
    await this.refresh();
  }

  async unlink({ kind, ticket }: TicketLink): Promise<void> {
    const params = { path: { ticket_id: this.id }, query: { kind, other: ticket.id } };
    await api.DELETE('/tickets/{ticket_id}/links', { params });
    await this.refresh();
  }

  async archive(): Promise<void> {
    const params = { path: { ticket_id: this.id } };
    this.#applyTicket(await unwrap(api.POST('/tickets/{ticket_id}/archive', { params })));
  }

  async restore(): Promise<void> {
    const params = { path: { ticket_id: this.id } };
    this.#applyTicket(await unwrap(api.POST('/tickets/{ticket_id}/restore', { params })));
  }

  /** Delete the ticket, which is archived. Raises Problem. */
  async delete(): Promise<void> {
    await api.DELETE('/tickets/{ticket_id}', { params: { path: { ticket_id: this.id } } });
  }

  async deleteCapture(id: string): Promise<void> {
    await api.DELETE('/captures/{capture_id}', { params: { path: { capture_id: id } } });
    await this.refresh();
  }

  async deleteAttachment(id: string): Promise<void> {
    await api.DELETE('/assets/{asset_id}', { params: { path: { asset_id: id } } });
    this.attachments = this.attachments.filter((each) => each.id !== id);
    void this.refresh();
  }

  async addComment(body: string): Promise<void> {
    const params = { path: { ticket_id: this.id } };
    const comment = await unwrap(api.POST('/tickets/{ticket_id}/comments', { params, body: { body } }));
    if (!this.comments.some((each) => each.id === comment.id)) this.comments = [...this.comments, comment];
    void this.refresh();
  }

  async editComment(id: string, body: string): Promise<void> {
    const params = { path: { comment_id: id } };
    const comment = await unwrap(api.PATCH('/comments/{comment_id}', { params, body: { body } }));
    this.comments = this.comments.map((each) => (each.id === id ? comment : each));
    void this.refresh();
  }

  async deleteComment(id: string): Promise<void> {
    await api.DELETE('/comments/{comment_id}', { params: { path: { comment_id: id } } });
    this.comments = this.comments.filter((each) => each.id !== id);
    void this.refresh();
  }
}
