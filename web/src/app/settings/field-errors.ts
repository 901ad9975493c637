import type { RoleName } from '../../../generated/api';
import { workspace } from '../core/workspace.svelte';

// What is said under a field that was refused, where the API's words are for programs.
export const LINE = 'Use 1 to 100 characters, on one line.';
export const EMAIL =
  'That isn’t an e-mail address: it needs a name, an @ and a host, and nobody else may have it.';
export const PASSWORD = 'Use 10 characters at least, and 200 at most.';

export const ROLES: { value: RoleName; label: string; may: string }[] = [
  { value: 'viewer', label: 'Viewer', may: 'Reads.' },
  { value: 'member', label: 'Member', may: 'Also works on tickets and makes tokens.' },
  { value: 'admin', label: 'Admin', may: 'Also manages projects, people and limits.' },
  { value: 'owner', label: 'Owner', may: 'Also removes the company and makes owners.' },
];

export function roleLabel(role: RoleName): string {
  return ROLES.find((each) => each.value === role)!.label;
}

/** Where something reaches, as one says it: a company's name, or the projects' of it. */
export function reach(company: string | null, projects: string[] | null): string {
  if (company === null) return 'All your companies';
  const name = workspace.company(company)?.name ?? 'A company that you left';
  return projects === null ? name : `${name}: ${projectNames(projects)}`;
}

/** Projects by name; those that the caller can't see are counted. */
export function projectNames(projects: string[]): string {
  const names = projects.map((id) => workspace.project(id)?.name).filter((name) => name !== undefined);
  const hidden = projects.length - names.length;
  const others = hidden === 1 ? 'a project that you can’t see' : `${hidden} projects that you can’t see`;
  return [...names, ...(hidden ? [others] : [])].join(', ');
}

/** A list from a box with one entry on each line. */
export function lines(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
}
