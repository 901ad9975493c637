"""Housekeeping: what expired is ended, and recorded once."""

import pytest

from tests.operations.core.test_dispatch import House, on_a_file
from ticketbox.domain.core.access.policy import Kind
from ticketbox.domain.core.clock import DAY, HOUR, MINUTE, Clock
from ticketbox.jobs.clock_watch import ClockWatch
from ticketbox.jobs.housekeeping import SweepProgress, run_round
from ticketbox.store.accounts import credentials
from ticketbox.store.accounts.credentials import NewCredential
from ticketbox.store.events.events import find_newest_time
from ticketbox.store.file.database import Read, Write


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


@on_a_file
async def test_ended_sessions_lose_address_and_browser_after_30_days(here: House) -> None:
    def insert(tx: Write, secret: bytes) -> str:
        user = tx.fetch_value("SELECT min(id) FROM user")
        new = NewCredential(
            Kind.SESSION,
            user,
            "web session",
            secret,
            "",
            expires_at=tx.now + 30 * DAY,
            address="192.0.2.7",
            user_agent="Browser",
        )
        return credentials.insert_credential(tx, new)[1]

    def list_known(tx: Read) -> list[tuple[str | None, str | None]]:
        return tx.fetch_all(
            "SELECT address, user_agent FROM credential WHERE kind = 'session' AND label = 'web session'"
        )

    services = here.dispatcher.services
    ended = await services.database.write(lambda tx: insert(tx, b"1" * 32))
    await services.database.write(lambda tx: insert(tx, b"2" * 32))
    await services.database.write(
        lambda tx: credentials.revoke_credential(tx, tx.fetch_value("SELECT min(id) FROM user"), ended, Kind.SESSION)
    )
    known, unknown = ("192.0.2.7", "Browser"), (None, None)
    for days, expected in (
        (29, [known, known]),
        (2, [unknown, known]),
        (28, [unknown, known]),
        (2, [unknown, unknown]),
    ):
        here.now += days * DAY
        await run_round(services, SweepProgress())
        assert await services.database.read(list_known) == expected


@on_a_file
async def test_nothing_is_deleted_by_its_age_after_a_jump_of_the_clock(here: House) -> None:
    services = here.dispatcher.services
    watch = ClockWatch(services.database.clock)

    def insert(tx: Write) -> None:
        user = tx.fetch_value("SELECT min(id) FROM user")
        new = NewCredential(Kind.SESSION, user, "x", b"1" * 32, "", expires_at=tx.now + DAY, address="192.0.2.7")
        credentials.insert_credential(tx, new)

    def count(tx: Read) -> int:
        return tx.fetch_value("SELECT count(*) FROM credential WHERE address = '192.0.2.7'")

    async def sweep() -> int:
        await run_round(services, SweepProgress(), 1, deletes_by_age=watch.is_trusted())
        return await services.database.read(count)

    await services.database.write(insert)
    here.now += 200 * DAY
    assert await sweep() == 1
    here.ticking += 23 * 3600
    here.now += 23 * HOUR
    assert await sweep() == 1
    here.ticking += 3600
    here.now += HOUR
    assert await sweep() == 0


def test_clock_that_returns_or_is_corrected_slowly_is_trusted(caplog: pytest.LogCaptureFixture) -> None:
    wall, steady = 0, 0.0
    watch = ClockWatch(Clock(now=lambda: wall, monotonic=lambda: steady))
    for _ in range(100):  # half an hour a minute: no jump
        wall, steady = wall + MINUTE + 30 * MINUTE, steady + 60
        assert watch.is_trusted()
    wall += 200 * DAY
    assert not watch.is_trusted()
    assert not watch.is_trusted()
    assert caplog.text.count("the clock jumped by 4800.0 hours") == 1
    wall -= 200 * DAY
    assert watch.is_trusted()
    wall -= 2 * HOUR
    assert not watch.is_trusted()


@pytest.mark.parametrize(
    ("newest", "trusted"),
    [(None, True), (25 * HOUR, True), (47 * HOUR, True), (49 * HOUR, False), (200 * DAY, False)],
)
def test_start_long_after_the_newest_change_deletes_nothing_for_a_day(newest: int | None, trusted: bool) -> None:
    wall, steady = 400 * DAY, 1000.0
    watch = ClockWatch(Clock(now=lambda: wall, monotonic=lambda: steady), None if newest is None else wall - newest)
    assert watch.is_trusted() is trusted
    for hours, then in ((23, trusted), (1, True), (1, True)):
        wall, steady = wall + hours * HOUR, steady + hours * 3600
        assert watch.is_trusted() is then


@on_a_file
async def test_changes_of_the_last_day_do_not_count_as_the_newest(here: House) -> None:
    secret = await here.token("tickets:write")
    times: list[int] = []
    for days in (0, 200, 0):
        here.now += days * DAY
        times.append(here.now)
        await here.ask(secret, "create_ticket", project_id=here.project, title="A ticket")

    async def find(age: int) -> int | None:
        return await here.dispatcher.services.database.read(lambda tx: find_newest_time(tx, here.now - age))

    assert (await find(DAY), await find(0), await find(300 * DAY)) == (times[0], times[2], None)
