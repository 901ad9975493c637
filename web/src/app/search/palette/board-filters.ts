import Eye from '@lucide/svelte/icons/eye';
import Filter from '@lucide/svelte/icons/list-filter';
import type { Project, SavedView } from '../../../../generated/api';
import { PRIORITIES } from '../../../shared/ui/PriorityIcon.svelte';
import { companyLabels } from '../../companies/labels/company-labels.svelte';
import { current } from '../../core/current.svelte';
import { router } from '../../core/navigation/router.svelte';
import { workspace } from '../../core/workspace.svelte';
import { parseFilters, toggleFilter } from '../../tickets/list/filters';
import { toAddress } from '../../tickets/views/saved-views';
import type { PaletteItem } from './palette-items';

const MAX_ITEMS = 3;

/** Load what boards of a project can be filtered by. */
export function loadBoardFilters({ company_id }: Project): void {
  workspace.loadMembers(company_id).catch(() => undefined);
  companyLabels.load(company_id).catch(() => undefined);
}

/** The commands that filter the open board or table, or the last board, by what a text names. */
export function toBoardFilterItems(text: string, project: Project): PaletteItem[] {
  const isOpen = current.view === 'board' || current.view === 'table';
  const filters = parseFilters(isOpen ? router.query : new URLSearchParams());
  const labels = companyLabels.list(project.company_id).map(({ name }) => ({ value: name, label: name }));
  const people = workspace.members(project.company_id).map(({ id, name }) => ({ value: id, label: name }));
  const values = [
    ...labels.map((each) => ({ name: 'label' as const, noun: 'Label', ...each })),
    ...people.map((each) => ({ name: 'assignee' as const, noun: 'Assignee', ...each })),
    ...PRIORITIES.map((each) => ({ name: 'priority' as const, noun: 'Priority', ...each })),
  ];
  return values
    .filter(({ name, value, label }) => {
      const isSet = (filters[name] as string[]).includes(value);
      // in the address, a comma separates values
      return !isSet && !value.includes(',') && label.toLowerCase().includes(text);
    })
    .slice(0, MAX_ITEMS)
    .map(({ name, noun, value, label }) => ({
      key: `board ${name} ${value}`,
      group: 'Commands',
      label: `Filter ${current.view === 'table' ? 'table' : 'board'} by “${label}”`,
      icon: Filter,
      hint: noun,
      run: () => {
        const changes = toggleFilter(filters, name, value);
        if (isOpen) router.setQuery(changes);
        else router.go(`/projects/${project.id}?${new URLSearchParams({ [name]: value })}`);
      },
    }));
}

/** The command that opens a saved view. */
export function toViewItem(view: SavedView): PaletteItem {
  return {
    key: view.id,
    group: 'Commands',
    label: `Show “${view.name}”`,
    icon: Eye,
    hint: workspace.project(view.project_id)?.name,
    run: () => router.go(toAddress(view)),
  };
}
