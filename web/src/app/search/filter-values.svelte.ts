import type { Filter } from '../core/boot';
import { workspace } from '../core/workspace.svelte';
import type { Value } from './completion';

const MOST_PROJECTS = 10;

/** The values of filters that the language can't know: people, labels, projects and columns that one sees. */
class Values {
  #labels = $state.raw<string[]>([]);
  #asked = new Set<Filter['takes']>();

  /** What a filter takes, as far as it is known; asks for the rest. */
  of(takes: Filter['takes']): Value[] {
    switch (takes) {
      case 'person':
        return distinct(
          workspace.companies
            .flatMap(({ id }) => workspace.members(id))
            .map(({ name, email }) => ({ value: name, hint: email })),
        );
      case 'label':
        return this.#labels.map((value) => ({ value }));
      case 'project':
        return distinct(
          workspace.projects.map(({ name, company_id }) => ({
            value: name,
            hint: workspace.companies.length > 1 ? workspace.company(company_id)?.name : undefined,
          })),
        );
      case 'column':
        return distinct(
          workspace.projects.flatMap(({ id }) => workspace.columns(id)).map(({ name }) => ({ value: name })),
        );
      default:
        return [];
    }
  }

  /** Ask once for what a filter takes. What can't be had is done without: the query can be written out. */
  load(takes: Filter['takes']): void {
    if (this.#asked.has(takes)) return;
    this.#asked.add(takes);
    this.#load(takes).catch(() => this.#asked.delete(takes));
  }

  async #load(takes: Filter['takes']): Promise<unknown> {
    await workspace.load();
    switch (takes) {
      case 'person':
        return Promise.all(workspace.companies.map(({ id }) => workspace.loadMembers(id)));
      case 'label':
        return (this.#labels = await workspace.loadLabels());
      case 'column':
        return Promise.all(
          workspace.projects.slice(0, MOST_PROJECTS).map(({ id }) => workspace.loadColumns(id)),
        );
    }
    return undefined;
  }
}

export const values = new Values();

function distinct(all: Value[]): Value[] {
  return [...new Map(all.map((each) => [each.value.toLowerCase(), each])).values()];
}
