import type { TicketDetail } from '../../../generated/api';
import { api, unwrap } from '../core/server/client';
import { eventStream } from '../core/server/event-stream.svelte';
import { Resource } from '../core/server/resource.svelte';

/** A ticket of the inbox. It is loaded again when its picture's marks change. Call it while a component is created. */
export function watchTicket(id: string): Resource<TicketDetail> {
  const ticket = new Resource<TicketDetail>(() =>
    unwrap(api.GET('/tickets/{ticket_id}', { params: { path: { ticket_id: id }, query: { include: [] } } })),
  );
  $effect(() =>
    eventStream.subscribe((event) => {
      if (event.ticket_id === id && event.type === 'annotations.saved') void ticket.load();
    }),
  );
  return ticket;
}
