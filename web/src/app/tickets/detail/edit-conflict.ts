import type { Ticket } from '../../../../generated/api';
import { Problem } from '../../core/server/problem';

/** Someone else changed the same text. `theirs` is the saved ticket. */
export class EditConflictError extends Error {
  readonly theirs: Ticket;

  constructor(theirs: Ticket) {
    super('Someone else changed this text at the same time.');
    this.theirs = theirs;
  }
}

/** Whether a change was refused because the ticket has another version. */
export function isConflict(error: unknown): boolean {
  return error instanceof Problem && error.code === 'version_conflict';
}
