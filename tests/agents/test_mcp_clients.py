"""MCP clients that other people wrote, in the versions that are in use.

A client takes seconds to start, so all run beside each other against one server, each with a separate company. What
fails is reported with the client's name.
"""

import contextlib
from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

import pytest
from PIL import Image

from tests.agents.coding_agents import Connection
from tests.agents.mcp_clients import BRIDGES, CLIENTS, Answer, McpClient, Session
from tests.agents.side_by_side import do_with_each
from tests.support.mcp_client import ALL, create_capture
from tests.support.server import Box, World, find_free_port, ok, run_server

pytestmark = pytest.mark.long

BUSY = 3  # clients that compute at the same time


class ConnectedClient(NamedTuple):
    """A client and its session, with the token of a company that has one ticket."""

    name: str
    session: Session
    world: World
    token: str
    ticket: str


@contextlib.contextmanager
def connect_each(
    clients: Sequence[McpClient], transport: str, box: Box, folder: Path
) -> Iterator[list[ConnectedClient]]:
    """Connect clients to a server."""
    connected: list[ConnectedClient] = []

    def connect(client: McpClient) -> None:
        world = World(box)
        token = world.owner.token(*ALL, label=client.name)
        ticket = create_capture(world)["ticket_id"]
        own = folder / client.name
        own.mkdir()
        session = client.open(Connection(transport, box.url, token), own).connect()
        connected.append(ConnectedClient(client.name, session, world, token, ticket))

    try:
        do_with_each(clients, connect, BUSY)
        yield connected
    finally:
        do_with_each(connected, lambda each: each.session.close(), len(clients))


def test_clients_work_survive_a_restart_and_wait_as_long_as_a_call_does(tmp_path: Path) -> None:
    """Over HTTP, directly and through bridges."""
    clients = [*CLIENTS, *BRIDGES]
    with (
        run_server(tmp_path, "--port", str(find_free_port())) as box,
        connect_each(clients, "http", box, tmp_path) as connected,
    ):
        do_with_each(connected, read_a_ticket, BUSY)
        do_with_each(connected, write_over_the_budget, len(clients))
        box.stop()
        box.start()
        do_with_each(connected, write_and_read, BUSY)
        do_with_each(connected, wait_in_vain, len(clients))


def test_clients_of_the_local_server_work_and_survive_a_restart(tmp_path: Path) -> None:
    with (
        run_server(tmp_path, "--port", str(find_free_port())) as box,
        connect_each(CLIENTS, "stdio", box, tmp_path) as connected,
    ):
        do_with_each(connected, read_a_ticket, BUSY)
        box.stop()
        box.start()
        do_with_each(connected, write_and_read, BUSY)


def read_a_ticket(client: ConnectedClient) -> None:
    """The caller gets the texts, the pictures and the refusal."""
    session = client.session
    assert {"list_tickets", "get_ticket", "get_screenshot", "add_comment"} <= {*session.tools}
    listed = session.call("list_tickets", project_id=client.world.project)
    assert [each["id"] for each in listed.json()["items"]] == [client.ticket]
    read = session.call("get_ticket", ticket_id=client.ticket)
    assert read.json()["capture"]["errors"]["items"][0]["message"] == "cart is null"
    assert measure_picture(read) == (1568, 784)
    shot = session.call("get_screenshot", ticket_id=client.ticket, max_side=500)
    assert (shot.json()["width"], measure_picture(shot)) == (500, (500, 250))
    lost = session.call("get_ticket", ticket_id="t-zzzzzzzz")
    assert "not_found" in lost.text
    assert "list_tickets or search_tickets" in lost.text


def measure_picture(answer: Answer) -> tuple[int, int]:
    """The width and height of the only picture of an answer."""
    (data,) = answer.pictures
    with Image.open(BytesIO(data)) as picture:
        return picture.size


def write_over_the_budget(client: ConnectedClient) -> None:
    """A 429 ends the sessions of some clients, so the server waits for up to five seconds instead."""
    world = client.world
    ticket = world.ticket("Busy")["id"]
    limits = {"reads_per_minute": None, "writes_per_minute": 20}  # one each three seconds
    ok(world.owner.web.patch(f"/companies/{world.company}", json={"limits": limits}))
    spender = world.box.client(client.token)
    while spender.post(f"/tickets/{ticket}/comments", json={"body": "Again"}).status_code == 201:
        pass
    late = client.session.call("add_comment", ticket_id=ticket, body="Late")
    assert late.json()["body"] == "Late"
    assert client.session.call("get_ticket", ticket_id=ticket).json()["title"] == "Busy"


def write_and_read(client: ConnectedClient) -> None:
    """The session works, and its writes have the token's name."""
    session, ticket = client.session, client.ticket
    assert session.call("add_comment", ticket_id=ticket, body="After").json()["body"] == "After"
    assert session.call("get_ticket", ticket_id=ticket).json()["id"] == ticket
    (comment,) = ok(client.world.api.get(f"/tickets/{ticket}/comments"))["items"]
    assert (comment["by"]["via"], comment["by"]["token_label"]) == ("mcp", client.name)


def wait_in_vain(client: ConnectedClient) -> None:
    """No client gives up in the 45 seconds before the server answers that there is no ticket."""
    nothing = client.session.call("claim_next_ticket", project_id=client.world.new_project("Empty"))
    # Pydantic AI hands on the structured part, which is an object
    assert nothing.text == ("{}" if client.name == "pydantic-ai" else "null")
