import type { Priority, Ticket } from '../../../../generated/api';
import { PRIORITIES } from '../../../shared/ui/PriorityIcon.svelte';
import { companyLabels } from '../../companies/labels/company-labels.svelte';
import { workspace } from '../../core/workspace.svelte';
import type { Choice } from '../../ui/overlays/Picker.svelte';
import { formatDay } from '../../ui/time/dates';
import type { EditProperty } from '../fields';
import { listDueChoices, NO_DATE, parseDay, toDay } from '../properties/due/due-dates';
import { editAssignee, editColumn, editField, editLabel, type Edit } from './ticket-edits';

/** How the values of a property are listed and chosen, for tickets of one company. */
interface PropertyEdit {
  /** Whether a ticket has several values, each of which is added or removed. */
  isMultiple?: true;
  /** Load what the choices need. Raises Problem. */
  load?: (ticket: Ticket) => Promise<unknown>;
  list: (tickets: Ticket[]) => Choice[];
  /** The edit that chooses a value, or removes it from several if it isn't set. */
  build: (value: string, isSet: boolean, ticket: Ticket) => Edit;
  /** The value that a typed text names, besides those that are listed; null for none. */
  parse?: (text: string) => string | null;
  /** What such a value is called. */
  name?: (value: string) => string;
  /** Whether its values have no separate icons (EditIcon.svelte). */
  isPlain?: true;
}

export const EDIT_CHOICES: Record<EditProperty, PropertyEdit> = {
  assignee: {
    isMultiple: true,
    load: ({ company_id }) => workspace.loadMembers(company_id),
    list: (tickets) =>
      listMembers(tickets[0]!).map(({ id, name }) => ({
        value: id,
        label: name,
        checked: tickets.every(({ assignees }) => assignees.some((each) => each.id === id)),
      })),
    build: (value, isSet, ticket) =>
      editAssignee(
        listMembers(ticket).find((each) => each.id === value)!,
        isSet,
      ),
  },
  priority: {
    list: (tickets) =>
      PRIORITIES.map((each) => ({
        ...each,
        checked: tickets.every(({ priority }) => priority === each.value),
      })),
    build: (value) =>
      editField(
        'priority',
        value as Priority,
        `set to ${PRIORITIES.find((each) => each.value === value)!.label}`,
      ),
  },
  label: {
    isMultiple: true,
    load: ({ company_id }) => companyLabels.load(company_id),
    list: (tickets) =>
      companyLabels.choices(
        tickets[0]!.company_id,
        tickets.flatMap(({ labels }) => labels),
        (name) => tickets.every(({ labels }) => labels.includes(name)),
      ),
    build: (value, isSet) => editLabel(value, isSet),
    parse: (text) => text || null,
    name: (value) => `Add “${value}”`,
  },
  status: {
    load: ({ project_id }) => workspace.loadColumns(project_id),
    list: (tickets) =>
      workspace.columns(tickets[0]!.project_id).map(({ id, name }) => ({
        value: id,
        label: name,
        checked: tickets.every(({ column_id }) => column_id === id),
      })),
    build: (value, _, { project_id }) =>
      editColumn(workspace.columns(project_id).find((each) => each.id === value)!),
  },
  due: {
    list: (tickets) => {
      const [day, ...others] = [...new Set(tickets.map(({ due_on }) => due_on))];
      return listDueChoices(toDay(new Date()), others.length === 0 ? day! : null);
    },
    build: (value) =>
      value === NO_DATE
        ? editField('due_on', null, 'without due date')
        : editField('due_on', value, `due ${formatDay(value)}`),
    parse: parseDay,
    name: formatDay,
    isPlain: true,
  },
};

/** The edit that chooses a value; of a person or label that all tickets have, the one that removes it. */
export function buildEdit(property: EditProperty, tickets: Ticket[], value: string): Edit {
  const { list, build } = EDIT_CHOICES[property];
  const isSet = !list(tickets).find((each) => each.value === value)?.checked;
  return build(value, isSet, tickets[0]!);
}

function listMembers({ company_id, project_id }: Ticket) {
  return workspace
    .members(company_id)
    .filter(({ project_ids }) => project_ids === null || project_ids.includes(project_id));
}
