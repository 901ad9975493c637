import { createContext } from 'svelte';
import type { Sort, ViewDensity, ViewField, ViewGroup, ViewLayout } from '../../../../generated/api';
import { listFields } from '../fields';

/** How tickets are shown. It is in the address, so that it can be shared and saved as a view. */
export interface Display {
  /** Of a table; a board has the order of its cards. */
  sort: Sort | null;
  /** A board is grouped by its columns; with another group, it has swimlanes. */
  group: ViewGroup | null;
  fields: ViewField[];
  density: ViewDensity;
}

export const DISPLAY_NAMES = ['sort', 'group', 'fields', 'density'] as const;

const GROUPS: { value: ViewGroup; label: string }[] = [
  { value: 'column', label: 'Status' },
  { value: 'priority', label: 'Priority' },
  { value: 'assignee', label: 'Assignee' },
  { value: 'label', label: 'Label' },
];

/** What the tickets of a layout can be grouped by. */
export const LAYOUT_GROUPS: Record<ViewLayout, typeof GROUPS> = {
  board: GROUPS.filter(({ value }) => value !== 'column'),
  table: GROUPS,
};

/** Parse the display from the query of the address. Unknown values are those of a newer version, and are left out. */
export function parseDisplay(query: URLSearchParams, layout: ViewLayout): Display {
  const fields = query.get('fields')?.split(',') as ViewField[] | undefined;
  const group = query.get('group');
  return {
    sort: layout === 'table' ? (query.get('sort') as Sort | null) : null,
    group: LAYOUT_GROUPS[layout].find(({ value }) => value === group)?.value ?? null,
    fields:
      fields?.filter((each) => listFields(layout).includes(each)) ?? listFields(layout, { usual: true }),
    density: query.get('density') === 'compact' ? 'compact' : 'comfortable',
  };
}

/** Whether fields are those that a layout usually shows, in any order. */
function isUsual(fields: ViewField[], layout: ViewLayout): boolean {
  const usual = listFields(layout, { usual: true });
  return fields.length === usual.length && fields.every((each) => usual.includes(each));
}

/** The query of the address that shows tickets like this; null is the usual. */
export function toDisplayQuery(
  display: Display,
  layout: ViewLayout,
): Record<(typeof DISPLAY_NAMES)[number], string | null> {
  return {
    sort: display.sort,
    group: display.group,
    fields: isUsual(display.fields, layout) ? null : display.fields.join(',') || 'none',
    density: display.density === 'comfortable' ? null : display.density,
  };
}

/** Whether a layout is shown in another way than usually. */
export function isUnusual(display: Display, layout: ViewLayout): boolean {
  return Object.values(toDisplayQuery(display, layout)).some((each) => each !== null);
}

/** How the tickets of the page are shown, for each card and row. */
export const [getDisplay, setDisplay] = createContext<() => Display>();
