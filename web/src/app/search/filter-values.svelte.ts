import type { Filter } from '../core/server/boot';
import { companyLabels } from '../companies/labels/company-labels.svelte';
import { workspace } from '../core/workspace.svelte';
import type { Value } from './completion';

const MAX_PROJECTS = 10;

/** Values for filters that the server does not list: the user's people, labels, projects and columns. */
class FilterValues {
  #requested = new Set<Filter['takes']>();

  /** The loaded values for a kind of filter. */
  of(takes: Filter['takes']): Value[] {
    switch (takes) {
      case 'person':
        return distinct(
          workspace.companies
            .flatMap(({ id }) => workspace.members(id))
            .map(({ name, email }) => ({ value: name, hint: email })),
        );
      case 'label':
        return distinct(
          workspace.companies
            .flatMap(({ id }) => companyLabels.list(id))
            .map(({ name, description }) => ({ value: name, hint: description || undefined })),
        );
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

  /** Load the values for a kind of filter, once. Errors are ignored: any value can be typed. */
  load(takes: Filter['takes']): void {
    if (this.#requested.has(takes)) return;
    this.#requested.add(takes);
    this.#load(takes).catch(() => this.#requested.delete(takes));
  }

  async #load(takes: Filter['takes']): Promise<unknown> {
    await workspace.load();
    switch (takes) {
      case 'person':
        return Promise.all(workspace.companies.map(({ id }) => workspace.loadMembers(id)));
      case 'label':
        return Promise.all(workspace.companies.map(({ id }) => companyLabels.load(id)));
      case 'column':
        return Promise.all(
          workspace.projects.slice(0, MAX_PROJECTS).map(({ id }) => workspace.loadColumns(id)),
        );
    }
    return undefined;
  }
}

export const filterValues = new FilterValues();

/** Remove values that differ only in case. */
function distinct(all: Value[]): Value[] {
  return [...new Map(all.map((each) => [each.value.toLowerCase(), each])).values()];
}
