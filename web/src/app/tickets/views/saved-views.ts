import type { SavedView, ViewLayout } from '../../../../generated/api';
import { parseFilters, type Filters } from '../list/filters';
import { parseDisplay, toDisplayQuery, type Display } from './display';

/** What a view saves. */
export type Definition = Pick<SavedView, 'layout' | 'filters' | 'sort' | 'group' | 'fields' | 'density'>;

/** The view that saves a board or table as it is shown. */
export function toDefinition(layout: ViewLayout, filters: Filters, display: Display): Definition {
  const isOverdue = filters.due === 'overdue';
  return {
    layout,
    filters: {
      assignee: filters.assignee,
      label: filters.label,
      priority: filters.priority,
      has_labels: filters.unlabeled ? false : null,
      resolved: filters.resolved === null ? null : filters.resolved === 'true',
      has_due_date: filters.due === 'none' ? false : null,
      overdue: isOverdue,
    },
    sort: display.sort,
    group: display.group,
    fields: toDisplayQuery(display, layout).fields === null ? null : display.fields,
    density: display.density,
  };
}

/** The query of the address that shows what a view saves. */
function toQuery({ filters, ...view }: Definition): URLSearchParams {
  const values: Record<string, string | null> = {
    assignee: filters.assignee.join(','),
    label: filters.label.join(','),
    priority: filters.priority.join(','),
    unlabeled: filters.has_labels === false ? 'true' : null,
    resolved: filters.resolved === null ? null : String(filters.resolved),
    due: filters.overdue ? 'overdue' : filters.has_due_date === false ? 'none' : null,
    sort: view.sort,
    group: view.group,
    fields: view.fields === null ? null : view.fields.join(',') || 'none',
    density: view.density === 'comfortable' ? null : view.density,
  };
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value) query.set(name, value);
  return query;
}

/** The address that opens a view. */
export function toAddress(view: SavedView): string {
  const query = toQuery(view);
  query.set('view', view.id);
  return `/projects/${view.project_id}${view.layout === 'table' ? '/table' : ''}?${query}`;
}

/** Whether what is shown differs from what a view saves. */
export function isChanged(view: SavedView, shown: Definition): boolean {
  const saved = toQuery(view);
  const normalized = toDefinition(view.layout, parseFilters(saved), parseDisplay(saved, view.layout));
  return JSON.stringify(normalized) !== JSON.stringify(shown);
}
