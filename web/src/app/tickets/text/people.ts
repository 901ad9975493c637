import { current } from '../../core/current.svelte';
import { workspace } from '../../core/workspace.svelte';

/** The loaded members who see the current project. */
export function listPeople() {
  const { company, project } = current;
  return company
    ? workspace
        .members(company.id)
        .filter(({ project_ids }) => project_ids === null || !project || project_ids.includes(project.id))
    : [];
}

/** Load the members of the current company, once. If that fails, texts show no mentions. */
export function loadPeople(): void {
  const { company } = current;
  if (company) workspace.loadMembers(company.id).catch(() => undefined);
}
