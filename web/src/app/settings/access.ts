import type { RoleName } from '../../../generated/api';
import { workspace } from '../core/workspace.svelte';

export const ROLES: { value: RoleName; label: string; description: string }[] = [
  { value: 'viewer', label: 'Viewer', description: 'Can read everything.' },
  { value: 'member', label: 'Member', description: 'Can also work on tickets and create tokens.' },
  { value: 'admin', label: 'Admin', description: 'Can also manage projects, members and limits.' },
  { value: 'owner', label: 'Owner', description: 'Can also manage owners and delete the company.' },
];

export function roleLabel(role: RoleName): string {
  return ROLES.find((each) => each.value === role)!.label;
}

/** A role in a sentence: "a member", "an admin". */
export function describeRole(role: RoleName): string {
  return `${/^[ao]/.test(role) ? 'an' : 'a'} ${roleLabel(role).toLowerCase()}`;
}

/** Describe what a token or an app can access: all companies, a company, or some of its projects. */
export function describeAccess(company: string | null, projects: string[] | null): string {
  if (company === null) return 'All your companies';
  const name = workspace.company(company)?.name ?? 'A company that you left';
  return projects === null ? name : `${name}: ${projectNames(projects)}`;
}

/** List projects by name. Projects that the user can't see are only counted. */
export function projectNames(projects: string[]): string {
  const names = projects.map((id) => workspace.project(id)?.name).filter((name) => name !== undefined);
  const hidden = projects.length - names.length;
  const others = hidden === 1 ? 'a project that you can’t see' : `${hidden} projects that you can’t see`;
  return [...names, ...(hidden ? [others] : [])].join(', ');
}
