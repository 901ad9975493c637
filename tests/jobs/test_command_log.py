"""Log lines for what commands on the server's machine did."""

import contextlib
import logging
from collections.abc import Iterator
from typing import Any

from tests.operations.core.test_dispatch import House, on_a_file
from ticketbox.jobs.command_log import log_commands
from ticketbox.store.accounts import security_events


@contextlib.contextmanager
def read_log() -> Iterator[list[dict[str, Any]]]:
    """Collect the fields of the security log's lines."""
    lines: list[dict[str, Any]] = []
    handler = logging.Handler()
    handler.emit = lambda record: lines.append(record.__dict__["fields"])
    log = logging.getLogger("ticketbox.security")
    level = log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        yield lines
    finally:
        log.removeHandler(handler)
        log.setLevel(level)


@on_a_file
async def test_what_commands_do_is_logged_once(here: House) -> None:
    """`shell` is what commands call; there, what they log goes nowhere."""
    services, user = here.dispatcher.services, "root@example.org"
    start = await services.database.read(security_events.find_newest_key)
    await here.shell("set_password", user=user, password="a better one, longer")
    issued = await here.shell("issue_token", user=user, label="x", scopes=["read"])
    await here.shell("revoke_issued_token", token_id=issued.id)
    await here.shell("disable_user", user=user, enable=False)
    with read_log() as lines:
        newest = await log_commands(services, start)
        assert [each["action"] for each in lines] == [
            "password_change", "token_create", "token_revoke", "account_disable",
        ]  # fmt: skip
        assert {(each["via"], each["outcome"], each["address"]) for each in lines} == {("cli", "done", "")}
        assert lines[1]["token_id"] == lines[2]["token_id"] == issued.id
        assert len({each["user"] for each in lines}) == 1
        assert await log_commands(services, newest) == newest
        assert len(lines) == 4
