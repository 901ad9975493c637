import type { Ticket } from '../../../../../generated/api';
import { assign, patch } from '../ticket-edits';

/** Save the priority, labels and assignees that differ. Returns the ticket as it was saved. Raises Problem. */
export async function saveFields(before: Ticket, now: Ticket): Promise<Ticket | undefined> {
  let saved: Ticket | undefined;
  if (now.priority !== before.priority) saved = await patch(now, { priority: now.priority });
  if (now.labels.join() !== before.labels.join()) saved = await patch(now, { labels: now.labels });
  const isIn = ({ id }: { id: string }, { assignees }: Ticket) => assignees.some((each) => each.id === id);
  for (const person of before.assignees) if (!isIn(person, now)) saved = await assign(now, person.id, false);
  for (const person of now.assignees) if (!isIn(person, before)) saved = await assign(now, person.id, true);
  return saved;
}
