import type { Priority, Ticket } from '../../../../generated/api';
import { PRIORITIES } from '../../../shared/ui/PriorityIcon.svelte';
import { companyLabels } from '../../companies/labels/company-labels.svelte';
import { workspace } from '../../core/workspace.svelte';
import type { Choice } from '../../ui/overlays/Picker.svelte';
import { listDueChoices, NO_DATE, toDay } from '../properties/due/due-dates';
import { editAssignee, editColumn, editDueDate, editLabel, editPriority, type Edit } from './ticket-edits';

/** A property that is changed by choosing a value. */
export type EditProperty = 'assignee' | 'priority' | 'label' | 'status' | 'due';

/** Load what the choices of a property need. Raises Problem. */
export async function loadEditChoices(property: EditProperty, ticket: Ticket): Promise<void> {
  if (property === 'assignee') await workspace.loadMembers(ticket.company_id);
  if (property === 'label') await companyLabels.load(ticket.company_id);
  if (property === 'status') await workspace.loadColumns(ticket.project_id);
}

/** The values of a property for tickets of one company. Those that all of them have are checked. */
export function listEditChoices(property: EditProperty, tickets: Ticket[]): Choice[] {
  const first = tickets[0]!;
  const choice = (value: string, label: string, has: (ticket: Ticket) => boolean): Choice => ({
    value,
    label,
    checked: tickets.every(has),
  });
  switch (property) {
    case 'assignee':
      return listMembers(first).map(({ id, name }) =>
        choice(id, name, (ticket) => ticket.assignees.some((each) => each.id === id)),
      );
    case 'priority':
      return PRIORITIES.map(({ value, label }) =>
        choice(value, label, (ticket) => ticket.priority === value),
      );
    case 'label':
      return companyLabels.choices(
        first.company_id,
        tickets.flatMap((each) => each.labels),
        (name) => tickets.every((each) => each.labels.includes(name)),
      );
    case 'due': {
      const [day, ...others] = [...new Set(tickets.map((each) => each.due_on))];
      return listDueChoices(toDay(new Date()), others.length === 0 ? day! : null);
    }
    case 'status':
      return workspace
        .columns(first.project_id)
        .map(({ id, name }) => choice(id, name, (ticket) => ticket.column_id === id));
  }
}

/** The edit that chooses a value; of a person or label that all tickets have, the one that removes it. */
export function buildEdit(property: EditProperty, tickets: Ticket[], value: string): Edit {
  const first = tickets[0]!;
  const isSet = !listEditChoices(property, tickets).find((each) => each.value === value)?.checked;
  switch (property) {
    case 'assignee':
      return editAssignee(
        listMembers(first).find((each) => each.id === value)!,
        isSet,
      );
    case 'priority':
      return editPriority(value as Priority);
    case 'label':
      return editLabel(value, isSet);
    case 'due':
      return editDueDate(value === NO_DATE ? null : value);
    case 'status':
      return editColumn(workspace.columns(first.project_id).find((each) => each.id === value)!);
  }
}

function listMembers({ company_id, project_id }: Ticket) {
  return workspace
    .members(company_id)
    .filter(({ project_ids }) => project_ids === null || project_ids.includes(project_id));
}
