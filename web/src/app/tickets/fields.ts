import type { paths, Sort, ViewField, ViewGroup, ViewLayout } from '../../../generated/api';

/** What can be changed of a ticket in one call. */
export type TicketChanges = NonNullable<
  paths['/tickets/{ticket_id}']['patch']['requestBody']
>['content']['application/json'];

/** What the heads of a table's columns sort by. */
export type SortField = Exclude<
  Extract<Sort, `-${string}`> extends `-${infer Name}` ? Name : never,
  'position'
>;

export interface TableColumn {
  /** The head of the column. */
  label: string;
  sort?: SortField;
  group?: ViewGroup;
  /** Before the title, and on phones as wide as an icon. */
  isNarrow?: boolean;
  /** Left out on phones. */
  isWide?: boolean;
}

interface TicketField {
  label: string;
  /** Which layouts can show it: all boards usually do; a table shows it usually, or if it is chosen. */
  board?: 'usual';
  table?: 'usual' | 'optional';
  /** Its column in a table; without one, it is shown beside the title. */
  column?: TableColumn;
}

/**
 * What cards and rows show besides the title, each declared once, in the order of the menu and of a table's columns. How a
 * value looks is in Card.svelte and TableRow.svelte.
 */
export const FIELDS: Record<ViewField, TicketField> = {
  picture: { label: 'Picture', board: 'usual' },
  key: { label: 'Key', board: 'usual', table: 'usual' },
  priority: {
    label: 'Priority',
    board: 'usual',
    table: 'usual',
    column: { label: 'Priority', sort: 'priority', isNarrow: true },
  },
  column: { label: 'Status', table: 'usual', column: { label: 'Status', group: 'column', isWide: true } },
  assignees: {
    label: 'Assignees',
    board: 'usual',
    table: 'usual',
    column: { label: 'Assignees', group: 'assignee', isWide: true },
  },
  due: {
    label: 'Due date',
    board: 'usual',
    table: 'usual',
    column: { label: 'Due', sort: 'due', isWide: true },
  },
  created: {
    label: 'Created',
    table: 'optional',
    column: { label: 'Created', sort: 'created', isWide: true },
  },
  updated: { label: 'Updated', table: 'usual', column: { label: 'Updated', sort: 'updated' } },
  evidence: { label: 'Evidence', board: 'usual', table: 'optional' },
  verification: { label: 'Verification', board: 'usual', table: 'optional' },
  pull_request: { label: 'Pull request', board: 'usual', table: 'optional' },
  labels: { label: 'Labels', board: 'usual', table: 'usual' },
  comments: { label: 'Comments', board: 'usual', table: 'optional' },
  agent: { label: 'Agent', board: 'usual', table: 'usual' },
};

/** The fields that a layout can show, or those that it usually shows. */
export function listFields(layout: ViewLayout, { usual = false } = {}): ViewField[] {
  return (Object.keys(FIELDS) as ViewField[]).filter((name) => {
    const shown = FIELDS[name][layout];
    return usual ? shown === 'usual' : shown !== undefined;
  });
}

/**
 * The properties that are changed by choosing a value, each declared once: by key, on a card, in the bar of a selection, in
 * the palette and on the ticket's page. Their values are in board/edit-choices.ts.
 */
export const EDITS = [
  { name: 'assignee', key: 'a', label: 'Assign', title: 'Assign', placeholder: 'Assign…' },
  { name: 'priority', key: 'p', label: 'Priority', title: 'Set priority', placeholder: 'Priority…' },
  { name: 'label', key: 'l', label: 'Label', title: 'Add or remove label', placeholder: 'Label…' },
  { name: 'status', key: 's', label: 'Status', title: 'Move to column', placeholder: 'Status…' },
  {
    name: 'due',
    key: 'd',
    label: 'Due date',
    title: 'Set due date',
    placeholder: 'Choose, or enter 2026-12-24',
  },
] as const;

export type EditProperty = (typeof EDITS)[number]['name'];

export function findEdit(property: EditProperty): (typeof EDITS)[number] {
  return EDITS.find(({ name }) => name === property)!;
}
