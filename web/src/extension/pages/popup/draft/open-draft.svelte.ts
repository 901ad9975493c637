/** The report that the popup shows: its draft, what the person entered, and what is still being read. */
import type { Project } from '../../../../recorder/capture-types';
import { startCapture } from '../../../capture/capture-tab';
import { loadProjects } from '../../../connection/api';
import { suggestProject } from '../../../draft/choose-project';
import { leaveOut } from '../../../draft/edit-draft';
import { addPointed } from '../../../draft/edit-expectations';
import { addOriginals } from '../../../draft/originals';
import { dropSuggestions, fillWithSuggestions, followSuggestions } from '../../../draft/report-fields';
import { listRefused } from '../../../outbox/capture-policy';
import { requestOriginals } from '../../request-originals';
import { EMPTY_FIELDS, appState, drafts, type Draft, type ReportFields } from '../../../storage';
import type { Size } from '../../../../shared/annotation/marks';
import { waitForPaint } from '../wait-for-paint';
import { findDraft, hostOf } from './find-draft';
import { suggestReport } from './suggest-report';

/** The draft of a tab's page. */
export class OpenDraft {
  readonly tab: chrome.tabs.Tab;
  draft = $state.raw<Draft>();
  projects = $state.raw<Project[]>([]);
  fields = $state<ReportFields>({ ...EMPTY_FIELDS });
  /** Whether the person began the report earlier. */
  isResumed = $state(false);
  /** Whether the draft is only a preview: the rest of what the page recorded is being read. */
  isReading = $state(false);
  /** Whether the draft is sent, so that it isn't kept any longer. */
  isSent = false;
  problem = $state('');

  readonly project = $derived(this.projects.find(({ id }) => id === this.fields.project));
  /** What the project doesn't store. */
  readonly refused = $derived(this.project ? listRefused(this.project.capture_policy) : []);
  /** The draft as it is sent. */
  readonly report = $derived(
    this.draft && leaveOut(this.draft, [...(this.draft.excluded ?? []), ...this.refused]),
  );

  #reading = Promise.resolve();
  #resolving = Promise.resolve();
  /** The draft whose stacks are resolved. */
  #asked = '';
  #suggested = { title: '', steps: [] as string[] };

  constructor(tab: chrome.tabs.Tab) {
    this.tab = tab;
  }

  /** Continue the report that the person began on the page, or capture the page. Raises if it can't be captured. */
  async open(): Promise<void> {
    const found = await findDraft(this.tab);
    this.isResumed = found !== undefined && !found.isOutdated;
    const { pointed, ...next }: Draft = this.isResumed ? found! : await this.#capture();
    this.draft = next;
    this.#suggested = suggestReport(this.report!);
    this.fields = { ...this.fields, ...found?.filled };
    if (!this.isResumed) this.fields = fillWithSuggestions(this.fields, this.#suggested);
    if (pointed) {
      this.change(addPointed(next, pointed, next.screenshot && (await readSize(next.screenshot))));
      this.isResumed = false; // they have only pointed
    }
    if (found?.isOutdated) void this.save();
    this.projects = await loadProjects().catch(async (error: Error) => {
      this.problem = error.message;
      return (await appState.get('projects')) ?? []; // the outbox keeps the report until the problem is solved
    });
    // read first: while it is awaited, what the person types replaces `fields`
    const lastProject = (await appState.get('chosen'))?.[hostOf(this.tab.url)];
    this.fields.project ||= suggestProject(this.projects, next.envelope.page.url, lastProject);
    this.#followReport();
    this.#startResolving();
    await this.#reading;
  }

  /** Drop the draft, and capture the page again. */
  async startOver(): Promise<void> {
    this.draft = undefined;
    this.draft = await this.#capture();
    this.#suggested = suggestReport(this.report!);
    this.fields = { ...this.fields, ...this.#suggested, description: '', priority: 'none' };
    this.isResumed = false;
    this.#startResolving();
  }

  /** Keep what the person changed in the draft. */
  change(next: Draft): void {
    this.draft = next;
    this.#followReport();
    void this.save();
  }

  /** Keep what the person entered. */
  changeFields(): void {
    this.#followReport(); // the project decides, too, what is sent
    this.#startResolving();
    void this.save();
  }

  /** Keep a draft with other pictures or stacks. */
  async replace(next: Draft | undefined): Promise<void> {
    this.draft = next;
    await this.save();
  }

  /** Store what the person entered: the popup closes when it loses focus. */
  async save(): Promise<void> {
    if (!this.draft || this.isSent) return;
    if (this.isReading) return this.saveForNextCapture(); // a preview isn't kept
    await drafts.put({ ...this.draft, filled: $state.snapshot(this.fields) });
  }

  /** Store what the person entered for the next capture of the page. */
  async saveForNextCapture(): Promise<void> {
    const filled = dropSuggestions($state.snapshot(this.fields), this.#suggested);
    await drafts.put({ ...this.draft!, filled, isOutdated: true });
  }

  /** Store the whole draft with changes, once everything that the page recorded is read. */
  async saveWhole(changes: Partial<Draft> = {}): Promise<void> {
    await this.#reading;
    await drafts.put({ ...this.draft!, ...changes, filled: $state.snapshot(this.fields) });
  }

  /** Wait until everything that the page recorded is read. */
  waitForReading(): Promise<void> {
    return this.#reading;
  }

  /** Wait for the draft as it is sent. */
  async finish(): Promise<Draft> {
    await this.#reading;
    await this.#resolving;
    return this.draft!;
  }

  /** Capture the page. Resolves to a preview; what the page recorded replaces it when that is read. */
  async #capture(): Promise<Draft> {
    const { preview, complete } = await startCapture(this.tab);
    this.isReading = true;
    this.#reading = this.#complete(complete);
    return preview;
  }

  async #complete(complete: () => Promise<Draft>): Promise<void> {
    try {
      await waitForPaint();
      this.draft = await complete();
      this.isReading = false;
      this.#followReport();
      await drafts.put({ ...this.draft, filled: $state.snapshot(this.fields) });
    } catch (error) {
      [this.draft, this.isReading, this.problem] = [undefined, false, String(error)];
    }
  }

  /** Resolve the stacks meanwhile, with the source maps that the page can load. */
  #startResolving(): void {
    this.#resolving = this.#resolving.then(() => this.#resolve());
  }

  async #resolve(): Promise<void> {
    await this.#reading;
    const { draft, project } = this;
    if (!draft || this.#asked === draft.id || !project || this.refused.includes('source_maps')) return;
    this.#asked = draft.id;
    const resolved = await requestOriginals(draft, project);
    if (resolved) await this.replace(addOriginals(resolved, this.draft));
  }

  /** Update what was suggested after the report changed, where the person hasn't written something else. */
  #followReport(): void {
    if (!this.report) return;
    const next = suggestReport(this.report);
    this.fields = followSuggestions(this.fields, this.#suggested, next);
    this.#suggested = next;
  }
}

/** The size of a picture in pixels. */
async function readSize(picture: Blob): Promise<Size> {
  const bitmap = await createImageBitmap(picture);
  const { width, height } = bitmap;
  bitmap.close();
  return { width, height };
}
