import Archive from '@lucide/svelte/icons/archive';
import ArrowUpRight from '@lucide/svelte/icons/arrow-up-right';
import Bot from '@lucide/svelte/icons/bot';
import CalendarDays from '@lucide/svelte/icons/calendar-days';
import Copy from '@lucide/svelte/icons/copy';
import CornerDownLeft from '@lucide/svelte/icons/corner-down-left';
import Link from '@lucide/svelte/icons/link';
import Plus from '@lucide/svelte/icons/plus';
import RotateCcw from '@lucide/svelte/icons/rotate-ccw';
import UserCheck from '@lucide/svelte/icons/user-check';
import type { Component } from 'svelte';
import type { Ticket } from '../../../../generated/api';
import { withBase } from '../../core/navigation/base';
import { router } from '../../core/navigation/router.svelte';
import { toasts } from '../../core/toasts.svelte';
import { workspace } from '../../core/workspace.svelte';
import { ACTION_ICONS } from '../../tickets/board/card/action-icons';
import { buildEdit, listEditChoices, type EditProperty } from '../../tickets/board/edit-choices';
import {
  ARCHIVE,
  editAssignee,
  editTickets,
  RESTORE,
  sendToAgent,
  type Edit,
} from '../../tickets/board/ticket-edits';
import { parseDay } from '../../tickets/properties/due/due-dates';
import { writeClipboard } from '../../ui/forms/write-clipboard';
import { formatDay } from '../../ui/time/dates';
import type { PaletteItem } from './palette-items';

/** An action of a ticket: runs and closes the palette, or leads to the values of a property. */
export type TicketAction = PaletteItem & { run: () => void; property?: EditProperty };

export const PROPERTY_TITLES: Record<EditProperty, string> = {
  assignee: 'Assign',
  priority: 'Set priority',
  status: 'Move to column',
  label: 'Add or remove label',
  due: 'Set due date',
};

/** What the signed-in user can do with a ticket. */
export function listTicketActions(ticket: Ticket): TicketAction[] {
  const canEdit = workspace.hasRole(ticket.company_id, 'member');
  const path = `/tickets/${ticket.id}`;
  return [
    toAction('Open ticket', CornerDownLeft, () => router.go(path)),
    toAction('Open in new tab', ArrowUpRight, () => window.open(withBase(path))),
    toAction('Copy link', Link, () => void copy(ticket.url, 'Link copied')),
    toAction(`Copy key ${ticket.key}`, Copy, () => void copy(ticket.key, `Copied ${ticket.key}`)),
    ...(!canEdit
      ? []
      : ticket.status === 'archived'
        ? [toEdit('Restore ticket', RotateCcw, ticket, RESTORE)]
        : listEdits(ticket)),
  ];
}

function listEdits(ticket: Ticket): TicketAction[] {
  const me = workspace.me!.user;
  const isMine = ticket.assignees.some(({ id }) => id === me.id);
  return [
    toEdit(isMine ? 'Unassign me' : 'Assign to me', UserCheck, ticket, editAssignee(me, !isMine)),
    ...(Object.keys(PROPERTY_TITLES) as EditProperty[]).map((property) => ({
      ...toAction(`${PROPERTY_TITLES[property]}…`, ACTION_ICONS[property], () => undefined),
      property,
    })),
    toEdit('Send to agent', Bot, ticket, sendToAgent()),
    toEdit('Archive ticket', Archive, ticket, ARCHIVE),
  ];
}

/** The values of a property, and the one that a text names, if it is new. */
export function listValues(ticket: Ticket, property: EditProperty, text: string): TicketAction[] {
  const group = PROPERTY_TITLES[property];
  const choices = listEditChoices(property, [ticket]);
  const typed = text.trim();
  const isKnown = choices.some(({ value, label }) =>
    [value, label.toLowerCase()].includes(typed.toLowerCase()),
  );
  const day = property === 'due' ? parseDay(typed) : null;
  const added = property === 'label' && typed ? typed : day;
  return [
    ...choices.map((choice) => ({
      ...toEdit(choice.label, ACTION_ICONS[property], ticket, () =>
        buildEdit(property, [ticket], choice.value),
      ),
      key: choice.value,
      group,
      hint: choice.hint,
      value: property === 'due' ? undefined : { property, choice, ticket },
    })),
    ...(added && !isKnown
      ? [
          {
            ...toEdit(day ? formatDay(day) : `Add “${typed}”`, day ? CalendarDays : Plus, ticket, () =>
              buildEdit(property, [ticket], added),
            ),
            key: ` ${added}`,
            group,
          },
        ]
      : []),
  ];
}

function toAction(label: string, icon: Component<{ size?: number }>, run: () => void): TicketAction {
  return { key: label, group: 'Actions', label, icon, run };
}

function toEdit(
  label: string,
  icon: Component<{ size?: number }>,
  ticket: Ticket,
  edit: Edit | (() => Edit),
): TicketAction {
  // whatever shows the ticket follows the events
  return toAction(
    label,
    icon,
    () => void editTickets([ticket], typeof edit === 'function' ? edit() : edit, () => undefined),
  );
}

async function copy(text: string, message: string): Promise<void> {
  await writeClipboard(text).then(
    () => toasts.show(message),
    (error) => toasts.showError(error),
  );
}
