import type { Column, Priority, ViewGroup } from '../../../../generated/api';
import { companyLabels } from '../../companies/labels/company-labels.svelte';
import { workspace } from '../../core/workspace.svelte';
import { PRIORITIES } from '../../../shared/ui/PriorityIcon.svelte';
import type { Filters } from './filters';
import type { ListQuery } from './ticket-list.svelte';

/** A group of a table: its name, and which tickets it has. */
export interface Group {
  id: string;
  label: string;
  column?: Column;
  priority?: Priority;
  /** The name of the person. */
  person?: string;
  query: ListQuery;
}

const MAX_GROUPS = 50; // each is a request

/** Find the groups of a table that the filters leave. Without grouping, all tickets are one. Raises Problem. */
export async function findGroups(by: ViewGroup | null, project: string, filters: Filters): Promise<Group[]> {
  const company = workspace.project(project)?.company_id ?? '';
  const groups = await {
    column: () => listColumns(project),
    priority: () => listPriorities(filters),
    assignee: () => listPeople(company, filters),
    label: () => listLabels(company, filters),
    none: () => [{ id: '', label: '', query: {} }],
  }[by ?? 'none']();
  return groups.slice(0, MAX_GROUPS);
}

async function listColumns(project: string): Promise<Group[]> {
  const columns = await workspace.loadColumns(project, { fresh: true });
  return columns.map((column) => ({
    id: column.id,
    label: column.name,
    column,
    query: { column_id: [column.id] },
  }));
}

function listPriorities({ priority: wanted }: Filters): Group[] {
  return PRIORITIES.filter(({ value }) => wanted.length === 0 || wanted.includes(value)).map(
    ({ value, label }) => ({ id: value, label, priority: value, query: { priority: [value] } }),
  );
}

async function listPeople(company: string, { assignee: wanted }: Filters): Promise<Group[]> {
  const me = workspace.me?.user.id;
  const isWanted = (id: string) =>
    wanted.length === 0 || wanted.includes(id) || (id === me && wanted.includes('me'));
  const members = (await workspace.loadMembers(company)).toSorted(
    (a, b) => Number(b.id === me) - Number(a.id === me) || a.name.localeCompare(b.name),
  );
  return [
    ...members.map(({ id, name }) => ({ id, label: name, person: name, query: { assignee: [id] } })),
    { id: 'none', label: 'Unassigned', query: { assignee: ['none'] } },
  ].filter(({ id }) => isWanted(id));
}

async function listLabels(company: string, { label: wanted, unlabeled }: Filters): Promise<Group[]> {
  const names = wanted.map((each) => each.toLowerCase());
  const labels = (await companyLabels.load(company)).filter(
    ({ name }) => !name.includes(',') && (names.length === 0 || names.includes(name.toLowerCase())),
  );
  const none = { id: 'none', label: 'No label', query: { label: undefined, has_labels: false } };
  if (unlabeled) return [none];
  const groups = labels.map(({ id, name }) => ({ id, label: name, query: { label: [name] } }));
  return names.length > 0 ? groups : [...groups, none];
}
