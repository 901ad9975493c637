import type { Ticket } from '../../../../generated/api';

/** The label of tickets that came with "Add sample tickets". */
export const SAMPLE = 'sample';

export function isSample(ticket: Ticket): boolean {
  return ticket.labels.includes(SAMPLE);
}
