import ArrowRight from '@lucide/svelte/icons/arrow-right';
import CircleDot from '@lucide/svelte/icons/circle-dot';
import CircleX from '@lucide/svelte/icons/circle-x';
import Command from '@lucide/svelte/icons/command';
import CornerDownLeft from '@lucide/svelte/icons/corner-down-left';
import Filter from '@lucide/svelte/icons/list-filter';
import Plus from '@lucide/svelte/icons/plus';
import SearchIcon from '@lucide/svelte/icons/search';
import SquareKanban from '@lucide/svelte/icons/square-kanban';
import Terminal from '@lucide/svelte/icons/terminal';
import type { Component, ComponentProps } from 'svelte';
import type { Hit, Piece, Project } from '../../../../generated/api';
import { overlay } from '../../core/overlay.svelte';
import { router } from '../../core/navigation/router.svelte';
import { nameKeys, type Shortcut } from '../../core/shortcuts.svelte';
import { workspace } from '../../core/workspace.svelte';
import type EditIcon from '../../tickets/board/EditIcon.svelte';
import type { Completion } from '../completion';
import { cutToLine } from '../excerpt';

const TICKET_ID = /^(t-?[0-9a-z]{6,12}|[0-9a-z]{2,5}-[1-9][0-9]{0,8})$/i;

/** An item of the palette: completes the query, or closes the palette and runs. */
export type PaletteItem = {
  key: string;
  /** The heading above it. */
  group: string;
  label: string;
  icon: Component<{ size?: number }>;
  ticket?: Hit;
  /** The newest ticket whose capture has the label. */
  capturedOn?: Hit;
  project?: Project;
  /** The label with its matches. */
  pieces?: Piece[];
  faded?: boolean;
  hint?: string;
  /** A value of the ticket's property. */
  value?: ComponentProps<typeof EditIcon>;
  /** The keys that run the command from anywhere. */
  keys?: string[];
} & ({ completion: Completion } | { completion?: undefined; run: () => void });

export function toFilterItem(completion: Completion): PaletteItem {
  const { label, hint } = completion;
  return { key: `filter ${label}`, group: 'Filters', label, icon: Filter, hint, completion };
}

/** What a search finds in captures, by the name of the excerpt's field, which is also a tab of the ticket. */
const STREAMS = new Map<string | undefined, Component<{ size?: number }>>([
  ['errors', CircleX],
  ['console', Terminal],
]);

/**
 * The items for tickets: the ticket whose ID is the query, the results, what was found only in captures, and a link to
 * all results. `project` is the one that was searched, if it wasn't all.
 */
export function toTicketItems(query: string, results: Hit[], project?: Project): PaletteItem[] {
  const id = query.toLowerCase();
  const isId = TICKET_ID.test(id) && !results.some((each) => each.id === id || each.key.toLowerCase() === id);
  const isCaptured = ({ highlights }: Hit) =>
    highlights.title.length === 0 && STREAMS.has(highlights.excerpt?.field);
  const address = toSearchAddress(query, project);
  const captures = toCaptureItems(address, results.filter(isCaptured));
  return [
    ...(isId ? [toIdItem(id)] : []),
    ...results.filter((each) => !isCaptured(each)).map(toTicketItem),
    ...captures,
    ...(results.length > 0
      ? [
          {
            key: 'everything',
            group: captures.length > 0 ? 'In captures' : 'Tickets',
            label: `All results for “${query}”${project ? ` in ${project.name}` : ''}`,
            icon: SearchIcon,
            faded: true,
            run: () => router.go(address),
          },
        ]
      : []),
  ];
}

/** A ticket that was opened a moment ago, for a palette without text. */
export function toRecentItem({ id, key, title }: { id: string; key: string; title: string }): PaletteItem {
  return {
    key: `recent ${id}`,
    group: 'Recent tickets',
    label: title,
    icon: CircleDot,
    hint: key,
    run: () => router.go(`/tickets/${id}`),
  };
}

/** The address of the search page with a query, in one project or in all. */
function toSearchAddress(query: string, project?: Project): string {
  const value = project?.name.includes('"') ? project.id : `"${project?.name}"`;
  return `/search?q=${encodeURIComponent(project ? `${query} project:${value}` : query)}`;
}

function toIdItem(id: string): PaletteItem {
  return {
    key: `open ${id}`,
    group: 'Tickets',
    label: `Open ${id}`,
    icon: CornerDownLeft,
    run: () => router.go(`/tickets/${id}`),
  };
}

function toTicketItem(ticket: Hit): PaletteItem {
  const isArchived = ticket.status === 'archived';
  return {
    key: ticket.id,
    group: 'Tickets',
    label: ticket.title,
    icon: CircleDot,
    ticket,
    pieces: ticket.highlights.title.length > 0 ? ticket.highlights.title : undefined,
    faded: isArchived || ticket.resolved,
    hint: isArchived ? 'Archived' : undefined,
    run: () => router.go(`/tickets/${ticket.id}`),
  };
}

/** One item for each message; several tickets can have the same one. */
function toCaptureItems(searchAddress: string, results: Hit[]): PaletteItem[] {
  const found = new Map<string, { pieces: Piece[]; field: string; tickets: Hit[] }>();
  for (const ticket of results) {
    const { field, parts } = ticket.highlights.excerpt!;
    const pieces = cutToLine(parts);
    const key = `${field} ${pieces.map(({ text }) => text).join('')}`;
    const same = found.get(key);
    if (same) same.tickets.push(ticket);
    else found.set(key, { pieces, field, tickets: [ticket] });
  }
  return [...found].map(([key, { pieces, field, tickets }]) => ({
    key,
    group: 'In captures',
    label: pieces.map(({ text }) => text).join(''),
    icon: STREAMS.get(field)!,
    capturedOn: tickets[0]!,
    pieces,
    hint: tickets.length === 1 ? tickets[0]!.key : `${tickets.length} tickets`,
    run: () => router.go(tickets.length === 1 ? `/tickets/${tickets[0]!.id}/${field}` : searchAddress),
  }));
}

export function toProjectItem(project: Project): PaletteItem {
  return {
    key: project.id,
    group: 'Projects',
    label: project.name,
    icon: SquareKanban,
    project,
    hint: workspace.companies.length > 1 ? workspace.company(project.company_id)?.name : undefined,
    run: () => router.go(`/projects/${project.id}`),
  };
}

/** The command that creates a ticket with this title. */
export function toCreateItem(title: string): PaletteItem {
  return {
    key: 'create',
    group: 'Commands',
    label: `Create ticket “${title}”`,
    icon: Plus,
    run: () => overlay.createTicket(title),
  };
}

export function toCommandItem({ keys, label, run }: Shortcut): PaletteItem {
  return {
    key: `do ${keys}`,
    group: 'Commands',
    label,
    icon: keys.startsWith('g ') ? ArrowRight : Command,
    keys: nameKeys(keys),
    run,
  };
}
