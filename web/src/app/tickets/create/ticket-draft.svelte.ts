import type { Priority, Ticket } from '../../../../generated/api';
import { api, unwrap } from '../../core/server/client';
import { workspace } from '../../core/workspace.svelte';
import { Uploads } from '../detail/uploads.svelte';
import { loadDraft, saveDraft } from '../text/drafts';

interface Fields {
  title: string;
  description: string;
  priority: Priority;
  labels: string[];
  /** Null: the project's first column. */
  column: string | null;
  assignees: string[];
  /** A day, such as "2026-12-24". */
  due_on: string | null;
}

const EMPTY: Fields = {
  title: '',
  description: '',
  priority: 'none',
  labels: [],
  column: null,
  assignees: [],
  due_on: null,
};

/** A ticket that is being written. The browser tab keeps the text of one for each project. */
export class TicketDraft {
  readonly project: string;
  fields = $state<Fields>({ ...EMPTY });
  /** Attached after the ticket is created. Files are not kept with the text. */
  files = $state.raw<File[]>([]);
  /** Whether it was begun earlier. */
  readonly isContinued: boolean;
  #idempotencyKey = createKey();

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
    this.#idempotencyKey = createKey();
    this.keep();
  }

  /** Create the ticket and assign people. Raises Problem only if there is no ticket. */
  async create(): Promise<Ticket> {
    const { title, description, priority, labels, assignees, due_on } = this.fields;
    const header = { 'Idempotency-Key': this.#idempotencyKey };
    const body = { column_id: this.columnId, title: title.trim(), description, priority, labels, due_on };
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
    return ticket;
  }

  /** Attach the files to the created ticket. Returns the errors of those that failed. */
  async attachFiles(ticket: string, files: File[]): Promise<string[]> {
    const uploads = new Uploads(ticket);
    for (const file of files) await uploads.add(file);
    return uploads.list.flatMap(({ error }) => error ?? []);
  }
}

function createKey(): string {
  return crypto.randomUUID?.() ?? String(Math.random()).slice(2);
}
