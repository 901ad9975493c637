"""Email over a day, on a clock that the tests set: what is grouped, retried, given up, and never sent."""

import asyncio
import contextlib
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from email.message import EmailMessage
from pathlib import Path

import pytest

from tests.support.mail_server import MailServer, run_mail_server
from ticketbox.domain.accounts.records import MailState
from ticketbox.domain.core.clock import DAY, HOUR, MINUTE, Clock
from ticketbox.domain.core.fairness.limits import RateLimiter
from ticketbox.domain.events.email_server import parse_email_server
from ticketbox.domain.events.records import Reason
from ticketbox.jobs.email.delivery import EmailSender
from ticketbox.operations.core.services import Services
from ticketbox.store.events import email_addresses, email_outbox, events, notifications
from ticketbox.store.file.database import Database, Read, Write
from ticketbox.store.file.migrate import prepare_file
from ticketbox.store.tickets import comments

BOB = 2
BEGUN = 1_795_253_400_000


class Bench:
    """A file with Ann, who writes, and Bob, who is notified; a real mail server; a stopped clock."""

    now = BEGUN

    def __init__(self, database: Database, box: MailServer) -> None:
        self.database = database
        self.box = box
        self.services = Services(database, RateLimiter(lambda: 0.0), "https://tickets.example", sends_email=True)
        self.mailer = EmailSender(
            self.services, parse_email_server(f"smtp://{box.host}", "ticketbox <t@tickets.example>")
        )

    async def set_up(self) -> None:
        """Plant the rows that mail hangs on."""

        def plant(tx: Write) -> None:
            new = "INSERT INTO user (id, public_id, email, name, created_at) VALUES (?, ?, ?, ?, 0)"
            tx.execute(new, (1, "usr_1", "ann@example.org", "Ann"))
            tx.execute(new, (BOB, "usr_2", "bob@example.org", "Bob"))
            tx.execute("INSERT INTO byline (id, user_id, via) VALUES (1, 1, 'web')")
            tx.execute(
                "INSERT INTO company (id, public_id, name, created_at, created_by) VALUES (1, 'co_1', 'C', 0, 1)"
            )
            member = "INSERT INTO member (id, company_id, user_id, role, all_projects, created_at, created_by) "
            tx.execute(member + "VALUES (1, 1, 1, 3, 1, 0, 1), (2, 1, 2, 1, 1, 0, 1)")
            for number in (1, 2):
                tx.execute(
                    "INSERT INTO project (id, public_id, company_id, name, key, created_at, created_by) "
                    "VALUES (?, ?, 1, 'Shop', ?, 0, 1)", (number, f"proj_{number}", f"S{number}"),
                )  # fmt: skip
                tx.execute(
                    "INSERT INTO board_column (id, public_id, project_id, name, position) VALUES (?, ?, ?, 'C', 0)",
                    (number, f"col_{number}", number),
                )
            for number in (1, 2, 3):
                tx.execute(
                    "INSERT INTO ticket (id, public_id, project_id, column_id, position, title, description, priority, "
                    "status, created_at, created_by, updated_at, updated_by, number) "
                    "VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'The description', 0, 'active', 0, 1, 0, 1, ?1)",
                    (number, f"t-0000000{number}", (number + 1) // 2, (number + 1) // 2, number, f"Ticket {number}"),
                )
            email_addresses.request_confirmation(tx, BOB, "bob@example.org")
            email_addresses.set_mailbox_state(tx, BOB, MailState.ON)
            tx.execute("DELETE FROM mail")

        await self.database.write(plant)

    async def happen(self, body: str = "Look", ticket: int = 1, reason: Reason = Reason.REPLY) -> None:
        """Ann comments, and Bob is notified."""

        def write(tx: Write) -> None:
            comment = comments.load_comment(tx, comments.insert_comment(tx, ticket, body, 1))
            events.record_event(tx, "comment.created", 1, 1, (ticket + 1) // 2, ticket, comment_id=comment.id)
            event = tx.events[-1].id
            notifications.insert_notifications(tx, [BOB], event, ticket, reason)
            email_outbox.queue_notifications(tx, event)

        await self.database.write(write)

    async def change(self, sql: str) -> None:
        """Let something else happen in the file."""
        await self.database.write(lambda tx: tx.execute(sql))

    async def round(self) -> float:
        """Send whatever is due."""
        await self.mailer.start()
        await self.mailer.wait_until_idle()
        return await self.mailer.start()

    async def later(self, ms: int = 2 * MINUTE) -> list[str]:
        """Send what is due after a while; the subjects of what came."""
        Bench.now += ms
        count = len(self.box.got)
        await self.round()
        return [str(each["Subject"]) for each in self.box.got[count:]]

    async def waiting(self) -> list[tuple[str, int, str | None]]:
        """The outbox: state, attempts and error of each mail."""

        def look(tx: Read) -> list[tuple[str, int, str | None]]:
            return [
                (row[0], row[1], row[2]) for row in tx.fetch_all("SELECT state, attempts, error FROM mail ORDER BY id")
            ]

        return await self.database.read(look)


@asynccontextmanager
async def open_bench(path: Path) -> AsyncIterator[Bench]:
    """A bench on a new file."""
    prepare_file(path)
    with run_mail_server() as box:
        database = await Database.open(path, Clock(now=lambda: Bench.now))
        bench = Bench(database, box)
        try:
            await bench.set_up()
            yield bench
        finally:
            await bench.mailer.close()
            bench.services.close()
            await database.close()


@pytest.fixture(autouse=True)
def _still(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Bench, "now", BEGUN)


def on_a_bench(path: Path, test: Callable[[Bench], Awaitable[None]]) -> None:
    """Run a test on a new bench."""

    async def run() -> None:
        async with open_bench(path / "bench.db") as bench:
            await test(bench)

    asyncio.run(run())


def text(message: EmailMessage, kind: str = "plain") -> str:
    """A mail's words."""
    part = message.get_body((kind,))
    assert part is not None
    return part.get_content()


def test_replies_to_one_ticket_are_one_email_after_two_minutes(tmp_path: Path) -> None:
    async def test(bench: Bench) -> None:
        for number in range(5):
            await bench.happen(f"Reply {number}")
        await bench.happen("Elsewhere", ticket=2)
        assert await bench.later(MINUTE) == []
        await bench.happen("Reply 5")
        assert await bench.later(MINUTE) == ["[Shop] Ticket 1 (S1-1)", "[Shop] Ticket 2 (S1-2)"]
        words = text(bench.box.got[0])
        places = [words.index(f"Reply {number}") for number in range(6)]
        assert places == sorted(places)
        assert "Elsewhere" not in words
        assert bench.box.connections == 1
        assert await bench.waiting() == []
        await bench.happen("Much later")
        await bench.later()
        assert "Reply" not in text(bench.box.got[2])

    on_a_bench(tmp_path, test)


def test_events_during_sending_go_into_the_next_email(tmp_path: Path) -> None:
    async def test(bench: Bench) -> None:
        await bench.happen("First")
        Bench.now += 2 * MINUTE
        (key,) = await bench.database.read(lambda tx: email_outbox.list_due(tx, 9))
        letter = await bench.database.read(lambda tx: email_outbox.compose_message(tx, key))
        assert letter is not None
        await bench.happen("Second")
        await bench.database.write(lambda tx: email_outbox.record_success(tx, key, letter.last))
        assert await bench.later(MINUTE) == []
        assert await bench.later(MINUTE) == ["[Shop] Ticket 1 (S1-1)"]
        assert "Second" in text(bench.box.got[0])
        assert "First" not in text(bench.box.got[0])

    on_a_bench(tmp_path, test)


@pytest.mark.parametrize(
    "meanwhile",
    [
        "UPDATE notification SET read_at = 1",
        "INSERT INTO ticket_mute (user_id, ticket_id) VALUES (2, 1)",
        "INSERT INTO project_mute (user_id, project_id) VALUES (2, 1)",
        "DELETE FROM member WHERE user_id = 2",
        "UPDATE member SET all_projects = 0 WHERE user_id = 2",
        "DELETE FROM comment",
        "UPDATE user SET disabled_at = 1 WHERE id = 2",
        "UPDATE user SET email = 'elsewhere@example.org' WHERE id = 2",
        "UPDATE mailbox SET state = 'off'",
        "UPDATE mailbox SET state = 'asked'",
    ],
)
def test_hidden_read_or_muted_notifications_are_not_mailed(tmp_path: Path, meanwhile: str) -> None:
    async def test(bench: Bench) -> None:
        await bench.happen()
        await bench.change(meanwhile)
        assert await bench.later() == []
        assert await bench.waiting() == []

    on_a_bench(tmp_path, test)


def test_ticket_moved_out_of_sight_is_not_mailed(tmp_path: Path) -> None:
    async def test(bench: Bench) -> None:
        await bench.change("UPDATE member SET all_projects = 0 WHERE user_id = 2")
        await bench.change("INSERT INTO member_project (member_id, project_id) VALUES (2, 1)")
        await bench.happen("Secret")
        await bench.happen("Fine", ticket=2)
        await bench.change("UPDATE ticket SET project_id = 2, column_id = 2 WHERE id = 1")
        assert await bench.later() == ["[Shop] Ticket 2 (S1-2)"]
        assert "Secret" not in bench.box.got[0].as_string()

    on_a_bench(tmp_path, test)


def test_edited_comment_is_mailed_as_edited_and_deleted_one_is_not(tmp_path: Path) -> None:
    async def test(bench: Bench) -> None:
        await bench.happen("Gone")
        await bench.happen("Before")
        await bench.change("DELETE FROM comment WHERE body = 'Gone'")
        await bench.change("UPDATE comment SET body = 'After'")
        await bench.later()
        words = text(bench.box.got[0])
        assert "After" in words
        assert "Gone" not in words
        assert "Before" not in words

    on_a_bench(tmp_path, test)


def test_failing_server_is_retried_less_often_and_given_up_after_a_day(tmp_path: Path) -> None:
    async def test(bench: Bench) -> None:
        bench.box.refuse = lambda _: "451 later"
        await bench.happen()
        Bench.now += 2 * MINUTE
        begun, attempts = Bench.now, 0
        while (await bench.waiting())[0][0] == "pending":
            due = await bench.database.read(email_outbox.find_next_due)
            assert due is not None
            assert due - Bench.now <= 6 * HOUR
            Bench.now = max(Bench.now, due)
            await bench.round()
            attempts += 1
        assert attempts == 15
        assert DAY - 6 * HOUR < Bench.now - begun <= DAY
        assert await bench.waiting() == [("dead", 15, "the email server refuses the address (451 later)")]
        assert bench.services.email_outcomes == {"failed": 15, "given_up": 1}
        bench.box.refuse = lambda _: None
        await bench.happen("Again")
        assert await bench.later() == ["[Shop] Ticket 1 (S1-1)"]

    on_a_bench(tmp_path, test)


@pytest.mark.parametrize("answer", ["550 5.1.1 no such user", "554 spam"])
def test_permanently_rejected_email_is_not_retried(tmp_path: Path, answer: str) -> None:
    async def test(bench: Bench) -> None:
        if answer.startswith("550"):
            bench.box.refuse = lambda _: answer
        else:
            bench.box.refuse_data = answer
        await bench.happen()
        assert await bench.later() == []
        ((state, attempts, error),) = await bench.waiting()
        assert (state, attempts) == ("dead", 1)
        assert error is not None
        assert answer in error
        Bench.now += 31 * DAY
        await bench.database.write(email_outbox.expire_mail)
        assert await bench.waiting() == []

    on_a_bench(tmp_path, test)


def test_domain_in_another_script_gets_email_and_a_local_part_in_one_is_given_up(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def test(bench: Bench) -> None:
        await bench.change("UPDATE user SET email = 'bob@exämple.org' WHERE id = 2")
        await bench.change("UPDATE mailbox SET address = 'bob@exämple.org'")
        await bench.happen()
        assert await bench.later() == ["[Shop] Ticket 1 (S1-1)"]
        assert bench.box.got[-1]["X-Envelope-To"] == "bob@xn--exmple-cua.org"
        assert "bob@xn--exmple-cua.org" in str(bench.box.got[-1]["To"])
        await bench.change("UPDATE user SET email = 'jürgen@example.org' WHERE id = 2")
        await bench.change("UPDATE mailbox SET address = 'jürgen@example.org'")
        await bench.happen(ticket=2)
        assert await bench.later() == []
        assert (await bench.waiting())[-1][2] == "the address has other characters than ASCII before the @"
        assert "Traceback" not in caplog.text

    on_a_bench(tmp_path, test)


def test_rejected_address_blocks_no_other_email(tmp_path: Path) -> None:
    async def test(bench: Bench) -> None:
        refusals = iter(["550 no", None])
        bench.box.refuse = lambda _: next(refusals)
        await bench.happen()
        await bench.happen(ticket=2)
        assert await bench.later() == ["[Shop] Ticket 2 (S1-2)"]

    on_a_bench(tmp_path, test)


def test_unreachable_server_costs_one_attempt_for_all(tmp_path: Path) -> None:
    async def test(bench: Bench) -> None:
        bench.mailer._relay = parse_email_server("smtp://localhost:9", "t@tickets.example")
        for ticket in (1, 2, 3):
            await bench.happen(ticket=ticket)
        assert await bench.later() == []
        waiting = await bench.waiting()
        assert [(state, attempts) for state, attempts, _ in waiting] == [("pending", 1)] * 3
        assert "can't connect to the email server: " in str(waiting[0][2])
        bench.mailer._relay = parse_email_server(f"smtp://{bench.box.host}", "t@tickets.example")
        assert len(await bench.later(10_000)) == 3

    on_a_bench(tmp_path, test)


def test_unsent_email_is_given_up_after_a_day(tmp_path: Path) -> None:
    async def test(bench: Bench) -> None:
        await bench.happen()
        Bench.now += DAY
        await bench.database.write(email_outbox.expire_mail)
        assert [state for state, _, _ in await bench.waiting()] == ["pending"]
        Bench.now += 3 * MINUTE
        await bench.database.write(email_outbox.expire_mail)
        assert await bench.waiting() == [("dead", 0, email_outbox.NO_MAIL_SERVER)]

    on_a_bench(tmp_path, test)


def test_repeated_email_has_the_same_message_id(tmp_path: Path) -> None:
    async def test(bench: Bench) -> None:
        await bench.happen()
        Bench.now += 2 * MINUTE
        kept = await bench.database.read(lambda tx: tx.fetch_all("SELECT * FROM mail"))
        await bench.round()
        await bench.database.write(
            lambda tx: tx.insert(f"INSERT INTO mail VALUES ({','.join('?' * len(kept[0]))})", kept[0])
        )
        await bench.round()
        first, second = bench.box.got
        assert first["Message-ID"] == second["Message-ID"]

    on_a_bench(tmp_path, test)


def test_email_lists_at_most_twenty_notifications(tmp_path: Path) -> None:
    async def test(bench: Bench) -> None:
        for number in range(23):
            await bench.happen(f"Reply {number}.")
        await bench.later()
        words = text(bench.box.got[0])
        assert "Reply 19." in words
        assert "Reply 20." not in words
        assert "3 more on" in words
        assert await bench.waiting() == []

    on_a_bench(tmp_path, test)


@pytest.mark.parametrize(("fault", "goes"), [("UPDATE", 0), ("DELETE", 1)])
def test_unwritable_outbox_floods_nobody_and_loses_nothing(tmp_path: Path, fault: str, goes: int) -> None:
    async def test(bench: Bench) -> None:
        await bench.happen()
        await bench.change(f"CREATE TRIGGER broken BEFORE {fault} ON mail BEGIN SELECT raise(ABORT, 'broken'); END")
        Bench.now += 2 * MINUTE
        for _ in range(3):
            await bench.mailer.start()
            with contextlib.suppress(sqlite3.IntegrityError):
                await bench.mailer.wait_until_idle()
            bench.mailer._round = None
        assert len(bench.box.got) == goes
        await bench.change("DROP TRIGGER broken")
        assert len(await bench.later(10_000)) == 1
        assert await bench.waiting() == []

    on_a_bench(tmp_path, test)
