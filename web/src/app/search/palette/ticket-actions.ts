import Archive from '@lucide/svelte/icons/archive';
import ArrowUpRight from '@lucide/svelte/icons/arrow-up-right';
import Bot from '@lucide/svelte/icons/bot';
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
import { buildEdit, EDIT_CHOICES } from '../../tickets/board/edit-choices';
import {
  ARCHIVE,
  editAssignee,
  editTickets,
  RESTORE,
  sendToAgent,
  type Edit,
} from '../../tickets/board/ticket-edits';
import { EDITS, findEdit, type EditProperty } from '../../tickets/fields';
import { writeClipboard } from '../../ui/forms/write-clipboard';
import type { PaletteItem } from './palette-items';

/** An action of a ticket: runs and closes the palette, or leads to the values of a property. */
export type TicketAction = PaletteItem & { run: () => void; property?: EditProperty };

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
    ...EDITS.map(({ name, title }) => ({
      ...toAction(`${title}…`, ACTION_ICONS[name], () => undefined),
      property: name,
    })),
    toEdit('Send to agent', Bot, ticket, sendToAgent()),
    toEdit('Archive ticket', Archive, ticket, ARCHIVE),
  ];
}

/** The values of a property, and the one that a text names, if it is new. */
export function listValues(ticket: Ticket, property: EditProperty, text: string): TicketAction[] {
  const { list, parse, name, isMultiple, isPlain } = EDIT_CHOICES[property];
  const group = findEdit(property).title;
  const choices = list([ticket]);
  const typed = text.trim();
  const isKnown = choices.some(({ value, label }) =>
    [value, label.toLowerCase()].includes(typed.toLowerCase()),
  );
  const added = parse?.(typed);
  return [
    ...choices.map((choice) => ({
      ...toEdit(choice.label, ACTION_ICONS[property], ticket, () =>
        buildEdit(property, [ticket], choice.value),
      ),
      key: choice.value,
      group,
      hint: choice.hint,
      value: isPlain ? undefined : { property, choice, ticket },
    })),
    ...(added && !isKnown
      ? [
          {
            ...toEdit(name!(added), isMultiple ? Plus : ACTION_ICONS[property], ticket, () =>
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
    () => void editTickets([ticket], typeof edit === 'function' ? edit() : edit, { show: () => undefined }),
  );
}

async function copy(text: string, message: string): Promise<void> {
  await writeClipboard(text).then(
    () => toasts.show(message),
    (error) => toasts.showError(error),
  );
}
