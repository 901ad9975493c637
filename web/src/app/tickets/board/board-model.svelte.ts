import type { Column, Ticket, TicketDetail } from '../../../../generated/api';
import type { VirtualItem } from '@tanstack/svelte-virtual';
import { formatTicketCount } from '../list/count-tickets';
import { matchesFilters, type Filters } from '../list/filters';

/** A position in a column: directly before a ticket, or at the end. */
export interface Position {
  column: string;
  before: string | null;
  /** On a board in swimlanes. */
  swimlane?: string;
  /** On a board in swimlanes: the ticket as it was there. */
  ticket?: Ticket;
}

/** The cards as they are shown, for keys and drags: in columns, or in swimlanes. */
export interface CardGrid {
  /** The ticket that keys start from; undefined without tickets. */
  firstTicket(): string | undefined;
  /** The ticket one step away; undefined at the edge. */
  ticketBeside(id: string, across: number, down: number): string | undefined;
  positionOf(id: string): Position | undefined;
  positionBeside(id: string, across: number, down: number): Position | undefined;
  /** Move a ticket in the browser. Returns whether anything changed. */
  move(id: string, position: Position): boolean;
  /** Save where a ticket was moved to. If the server refuses, move it back and show the error. */
  saveMove(id: string, from: Position): Promise<void>;
  /** The cards above and below a ticket, with the ticket itself, and the name of their place. */
  listAround(id: string): { name: string; tickets: Ticket[] };
}

/** A column of the board with its tickets, as far as they are loaded. */
export class Lane {
  column = $state.raw<Column>()!;
  tickets = $state.raw<Ticket[]>([]);
  /** The cursor of the next page; null if all tickets are loaded. */
  cursor = $state<string | null>(null);
  /** How many tickets follow those that are loaded; null if that isn't known, or there are very many. */
  following = $state<number | null>(null);
  isLoading = $state(false);
  /** The cursor of the page that couldn't be loaded. */
  failedCursor: string | null = null;
  /** Where the lane was scrolled to, and the measured cards, when it was last on the screen. */
  place?: { top: number; sizes: VirtualItem[] };

  constructor(column: Column) {
    this.column = column;
  }

  get count(): string {
    return formatTicketCount(this.tickets.length, this.cursor !== null, this.following);
  }
}

/** The tickets of a board as the browser shows them. It sends nothing to the server. */
export class BoardModel {
  readonly project: string;
  readonly filters: Filters;
  lanes = $state.raw<Lane[]>([]);

  constructor(project: string, filters: Filters) {
    this.project = project;
    this.filters = filters;
  }

  lane(column: string): Lane | undefined {
    return this.lanes.find((lane) => lane.column.id === column);
  }

  find(ticket: string): { lane: Lane; ticket: Ticket; index: number } | undefined {
    for (const lane of this.lanes) {
      const index = lane.tickets.findIndex((each) => each.id === ticket);
      if (index >= 0) return { lane, ticket: lane.tickets[index]!, index };
    }
    return undefined;
  }

  /** The tickets whose cards say that this one blocks them. */
  ticketsBlockedBy(blocker: string): string[] {
    return this.lanes
      .flatMap((lane) => lane.tickets)
      .filter((ticket) => ticket.blocked_by.some(({ id }) => id === blocker))
      .map(({ id }) => id);
  }

  /** The tickets on the board that this one blocks, though their cards don't say so yet. */
  ticketsNewlyBlockedBy({ id, resolved, status, links }: TicketDetail): string[] {
    if (resolved || status === 'archived') return [];
    const marked = this.ticketsBlockedBy(id);
    return links
      .filter((link) => link.kind === 'blocks')
      .map((link) => link.ticket.id)
      .filter((blocked) => this.find(blocked) && !marked.includes(blocked));
  }

  /** Put a ticket where it belongs, or remove it from the board. `me` is the signed-in user's id. */
  upsert(ticket: Ticket, me: string): void {
    const found = this.find(ticket.id);
    if (found && found.ticket.version > ticket.version) return;
    const lane =
      ticket.status === 'active' && ticket.column_id && matchesFilters(ticket, this.filters, me)
        ? this.lane(ticket.column_id)
        : undefined;
    if (found && found.lane === lane && found.ticket.position === ticket.position) {
      lane.tickets = lane.tickets.with(found.index, ticket);
      return;
    }
    this.remove(ticket.id);
    if (!lane) return;
    const index = lane.tickets.findIndex((each) => each.position > ticket.position);
    if (index >= 0) lane.tickets = lane.tickets.toSpliced(index, 0, ticket);
    else if (lane.cursor === null) lane.tickets = [...lane.tickets, ticket];
  }

  /** Show a ticket in the place that it has on the board. */
  replace(ticket: Ticket): void {
    const found = this.find(ticket.id);
    if (found) found.lane.tickets = found.lane.tickets.with(found.index, ticket);
  }

  remove(id: string): void {
    const found = this.find(id);
    if (found) found.lane.tickets = found.lane.tickets.toSpliced(found.index, 1);
  }

  /** Move a ticket. Returns whether its position changed. */
  move(id: string, position: Position): boolean {
    const found = this.find(id);
    const lane = this.lane(position.column);
    if (!found || !lane || position.before === id) return false;
    const next = found.lane.tickets[found.index + 1]?.id ?? null;
    if (found.lane === lane && next === position.before) return false;
    this.remove(id);
    const before = lane.tickets.findIndex((each) => each.id === position.before);
    const index = before < 0 ? lane.tickets.length : before;
    lane.tickets = lane.tickets.toSpliced(index, 0, { ...found.ticket, column_id: position.column });
    return true;
  }

  positionOf(id: string): Position | undefined {
    const found = this.find(id);
    return found && { column: found.lane.column.id, before: found.lane.tickets[found.index + 1]?.id ?? null };
  }

  /** The position one step to the left (-1) or right (1), or up (-1) or down (1); undefined at the edge. */
  positionBeside(id: string, across: number, down: number): Position | undefined {
    const found = this.find(id);
    if (!found) return undefined;
    if (across !== 0) {
      const lane = this.lanes[this.lanes.indexOf(found.lane) + across];
      return lane && { column: lane.column.id, before: lane.tickets[found.index]?.id ?? null };
    }
    const { tickets, column } = found.lane;
    const target = found.index + down;
    if (target < 0 || target >= tickets.length) return undefined;
    return { column: column.id, before: tickets[down > 0 ? target + 1 : target]?.id ?? null };
  }

  firstTicket(): string | undefined {
    return this.lanes.find((lane) => lane.tickets.length > 0)?.tickets[0]!.id;
  }

  listAround(id: string): { name: string; tickets: Ticket[] } {
    const lane = this.find(id)?.lane;
    return { name: lane?.column.name ?? '', tickets: lane?.tickets ?? [] };
  }

  /** The ticket one step away, for the arrow keys. Empty lanes are skipped. */
  ticketBeside(id: string, across: number, down: number): string | undefined {
    const found = this.find(id);
    if (!found) return undefined;
    if (down !== 0) return found.lane.tickets[found.index + down]?.id;
    for (let index = this.lanes.indexOf(found.lane) + across; this.lanes[index]; index += across) {
      const { tickets } = this.lanes[index]!;
      if (tickets.length > 0) return tickets[Math.min(found.index, tickets.length - 1)]!.id;
    }
    return undefined;
  }

  /** Where a moved ticket is, as the API expects it: before or after a neighbour, or at the end of the column. */
  neighbourOf(id: string): { before?: string; after?: string } {
    const { lane, index } = this.find(id)!;
    if (index + 1 < lane.tickets.length) return { before: lane.tickets[index + 1]!.id };
    // more tickets may follow that are not loaded
    if (lane.cursor !== null && index > 0) return { after: lane.tickets[index - 1]!.id };
    return {};
  }
}
