"""Housekeeping: what expired is ended, and recorded once."""

from tests.operations.core.test_dispatch import House, on_a_file
from ticketbox.domain.core.clock import MINUTE
from ticketbox.jobs.housekeeping import SweepProgress, run_round


@on_a_file
async def test_lease_that_is_not_renewed_becomes_stale_once(here: House) -> None:
    secret = await here.token("tickets:write")
    ticket = await here.ask(secret, "create_ticket", project_id=here.project, title="A ticket")
    kept = await here.ask(secret, "create_ticket", project_id=here.project, title="Another ticket")
    started = await here.ask(secret, "start_work", ticket_id=ticket.id, lease_minutes=10, run="laptop")
    await here.ask(secret, "start_work", ticket_id=kept.id, lease_minutes=30)
    for minutes in (9, 2, 1):
        here.now += minutes * MINUTE
        await run_round(here.dispatcher.services, SweepProgress())
    history = (await here.ask(secret, "get_ticket_history", ticket_id=ticket.id)).items
    assert [event.type for event in history] == ["ticket.created", "ticket.work_started", "ticket.work_stale"]
    assert history[-1].data == {"session_id": started.claim.session_id, "run": "laptop"}
    assert history[-1].by.token_label == "x"
    assert (await here.ask(secret, "get_ticket", ticket_id=ticket.id)).claim is None
    assert (await here.ask(secret, "get_ticket", ticket_id=kept.id)).claim is not None
