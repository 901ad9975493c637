import type { Ticket } from '../../../../generated/api';
import { cleanTitle } from '../../../shared/clean-title';
import { api, unwrap } from '../../core/server/client';
import { toasts } from '../../core/toasts.svelte';
import { createUuid } from '../../core/uuid';
import { workspace } from '../../core/workspace.svelte';
import { Uploads } from '../detail/uploads.svelte';
import { linkAsset } from '../text/asset-link';
import { loadDraft, saveDraft } from '../text/drafts';

interface Fields extends Pick<Ticket, 'title' | 'description' | 'priority' | 'labels' | 'due_on'> {
  /** Null: the project's first column. */
  column: string | null;
  assignees: string[];
  /** Whether the ticket is sent to agents, which look for it in the first column of the kind `todo`. */
  agent: boolean;
}

const EMPTY: Fields = {
  title: '',
  description: '',
  priority: 'none',
  labels: [],
  column: null,
  assignees: [],
  due_on: null,
  agent: false,
};

/** A ticket that is being written. The browser tab keeps the text of one for each project. */
export class TicketDraft {
  readonly project: string;
  fields = $state<Fields>({ ...EMPTY });
  /** Attached after the ticket is created. Files are not kept with the text. */
  files = $state.raw<File[]>([]);
  /** Whether it was begun earlier. */
  readonly isContinued: boolean;
  #idempotencyKey = createUuid();

  readonly isEmpty = $derived(!this.fields.title.trim() && !this.fields.description.trim());

  constructor(project: string, title = '') {
    this.project = project;
    const kept = loadDraft(this.#name);
    this.isContinued = kept !== '';
    this.fields.title = title;
    if (kept) this.fields = { ...EMPTY, ...(JSON.parse(kept) as Partial<Fields>) };
  }

  get columnId(): string | undefined {
    return this.fields.column ?? workspace.columns(this.project)[0]?.id;
  }

  get #name(): string {
    return `new-ticket:${this.project}`;
  }

  /** Keep the text, or forget it if there is none. */
  keep(): void {
    saveDraft(this.#name, this.isEmpty ? '' : JSON.stringify(this.fields));
  }

  /** Empty the text; what a next ticket probably has in common stays. */
  clear(): void {
    Object.assign(this.fields, { title: '', description: '' });
    this.files = [];
    this.#idempotencyKey = createUuid();
    this.keep();
  }

  /** Create the ticket, assign people and send it to agents. Raises Problem only if there is no ticket. */
  async create(): Promise<Ticket> {
    const { column: _, assignees, agent, ...fields } = this.fields;
    const header = { 'Idempotency-Key': this.#idempotencyKey };
    const body = { ...fields, title: cleanTitle(fields.title), column_id: this.columnId };
    const ticket = await unwrap(api.POST('/tickets', { params: { header }, body }));
    await Promise.all(
      assignees.map((user) =>
        api
          .PUT('/tickets/{ticket_id}/assignees/{user_id}', {
            params: { path: { ticket_id: ticket.id, user_id: user } },
          })
          .catch(() => undefined),
      ),
    );
    if (agent)
      await unwrap(
        api.POST('/tickets/{ticket_id}/send-to-agent', { params: { path: { ticket_id: ticket.id } } }),
      ).catch((error) => toasts.showError(error));
    return ticket;
  }

  /**
   * Move what is written to the draft of a comment on another ticket, with links to the files, which are attached there.
   * Raises an error if a file can't be attached; the draft is then as it was, with the links of the others.
   */
  async moveToComment(ticket: string): Promise<void> {
    const { fields } = this;
    const uploads = new Uploads(ticket);
    for (const file of this.files) {
      const asset = await uploads.add(file);
      if (!asset) throw new Error(uploads.list[0]!.error!);
      fields.description = join(fields.description, linkAsset(asset));
      this.files = this.files.filter((each) => each !== file);
    }
    const name = `comment:${ticket}`;
    saveDraft(name, join(loadDraft(name), fields.title, fields.description));
    this.clear();
  }

  /** Attach the files to the created ticket. Returns the errors of those that failed. */
  async attachFiles(ticket: string, files: File[]): Promise<string[]> {
    const uploads = new Uploads(ticket);
    for (const file of files) await uploads.add(file);
    return uploads.list.flatMap(({ error }) => error ?? []);
  }
}

/** Paragraphs from texts; empty ones are left out. */
function join(...texts: string[]): string {
  return texts
    .map((text) => text.trim())
    .filter(Boolean)
    .join('\n\n');
}
