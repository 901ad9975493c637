import type { Event, Label, LabelColor } from '../../../../generated/api';
import { api, fetchAll } from '../../core/server/client';
import { eventStream } from '../../core/server/event-stream.svelte';
import type { Choice } from '../../ui/overlays/Picker.svelte';

const REFRESH_MS = 200;

/** The labels of companies, by name: loaded once, then kept up to date. Tickets have only the names. */
class CompanyLabels {
  #labels = $state.raw<Record<string, Label[]>>({});
  #loading = new Map<string, Promise<Label[]>>();
  #asked = new Set<string>();
  #stop: (() => void) | null = null;

  /** The loaded labels of a company, by name. */
  list(company: string): Label[] {
    return this.#labels[company] ?? [];
  }

  /** Load a company's labels. Raises Problem. */
  load(company: string, { fresh = false } = {}): Promise<Label[]> {
    this.#stop ??= eventStream.subscribe((event) => this.#handleEvent(event));
    const running = this.#loading.get(company);
    if (running && !fresh) return running;
    const loading = this.#fetch(company);
    this.#loading.set(company, loading);
    loading.catch(() => this.#loading.delete(company));
    return loading;
  }

  /** The colour of a label; grey until the labels are loaded. An unknown label, of a new ticket, is looked up. */
  colorOf(company: string, name: string): LabelColor {
    const wanted = name.toLowerCase();
    const found = this.list(company).find((each) => each.name.toLowerCase() === wanted);
    if (!found && !this.#asked.has(`${company} ${wanted}`)) {
      this.#asked.add(`${company} ${wanted}`);
      const isKnown = this.#labels[company] !== undefined;
      setTimeout(
        () => this.load(company, { fresh: isKnown }).catch(() => undefined),
        isKnown ? REFRESH_MS : 0,
      );
    }
    return found?.color ?? 'gray';
  }

  /** The choices of a picker: the company's labels and those of the tickets, which may be newer. */
  choices(company: string, names: string[], isChecked: (name: string) => boolean): Choice[] {
    const labels = this.list(company);
    const known = new Set(labels.map((each) => each.name.toLowerCase()));
    const unknown = [...new Set(names)].filter((name) => !known.has(name.toLowerCase()));
    return [...labels, ...unknown.map((name) => ({ name, description: '' }))].map(
      ({ name, description }) => ({
        value: name,
        label: name,
        hint: description || undefined,
        checked: isChecked(name),
      }),
    );
  }

  async #fetch(company: string): Promise<Label[]> {
    const labels = await fetchAll((cursor) =>
      api.GET('/companies/{company_id}/labels', {
        params: { path: { company_id: company }, query: { cursor, limit: 100 } },
      }),
    );
    labels.sort((a, b) => a.name.localeCompare(b.name));
    this.#labels = { ...this.#labels, [company]: labels };
    return labels;
  }

  #handleEvent(event: Event): void {
    if (event.type.startsWith('label.') && this.#labels[event.company_id])
      this.load(event.company_id, { fresh: true }).catch(() => undefined);
  }
}

export const companyLabels = new CompanyLabels();

/** Whether an event changed the names of labels on tickets of a company. */
export function changesTickets(event: Event, company: string | undefined): boolean {
  const { changes = {} }: { changes?: object } = event.data;
  return (
    event.company_id === company &&
    (event.type === 'label.merged' ||
      event.type === 'label.removed' ||
      (event.type === 'label.changed' && 'name' in changes))
  );
}
