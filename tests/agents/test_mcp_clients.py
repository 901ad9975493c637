"""MCP clients that other people wrote, in the versions that are in use.

A client takes seconds to start, so each starts once and connects in all its ways. All run beside each other against one
server, each with a separate company, and what fails is reported with the client's name.
"""

import contextlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

import pytest
from PIL import Image

from tests.agents.coding_agents import Connection
from tests.agents.mcp_clients import BRIDGES, CLIENTS, Answer, ClientProcess, McpClient, Session
from tests.agents.side_by_side import do_with_each
from tests.support.mcp_client import ALL, create_capture
from tests.support.server import Box, World, count_waiting, eventually, find_free_port, ok, run_server

pytestmark = pytest.mark.long

BUSY = 3  # clients that compute at the same time
TYPESCRIPT = ("typescript-sdk-1", "typescript-sdk-2")


class ConnectedClient(NamedTuple):
    """A client with one of its connections, and the company, token and ticket that it uses there."""

    kind: McpClient
    connection: Connection
    session: Session
    world: World
    ticket: str

    @property
    def name(self) -> str:
        """The client and how it is connected."""
        return f"{self.kind.name} over {self.connection.transport}"


@contextlib.contextmanager
def connect_each(box: Box, folder: Path) -> Iterator[list[ConnectedClient]]:
    """Start the clients, and connect each to a server in all its ways."""
    processes: list[ClientProcess] = []
    connected: list[ConnectedClient] = []

    def connect(client: McpClient) -> None:
        own = folder / client.name
        own.mkdir()
        process = client.start(own)
        processes.append(process)
        world = World(box)
        ticket = create_capture(world)["ticket_id"]
        for connection in client.list_connections(box.url, world.owner.token(*ALL, label=client.name)):
            connected.append(ConnectedClient(client, connection, process.connect(connection), world, ticket))

    try:
        do_with_each([*CLIENTS, *BRIDGES], connect, BUSY)
        yield connected
    finally:
        with ThreadPoolExecutor() as threads:
            list(threads.map(ClientProcess.close, processes))


def test_clients_work_survive_a_restart_and_wait_as_long_as_a_call_does(tmp_path: Path) -> None:
    """Over HTTP, through the local server, and through bridges."""
    with (
        run_server(tmp_path, "--port", str(find_free_port())) as box,
        connect_each(box, tmp_path) as connected,
    ):
        hosted = [each for each in connected if each.connection.transport != "stdio"]
        do_with_each(connected, read_a_ticket, BUSY)
        do_with_each(hosted, write_over_the_budget, len(hosted))
        box.stop()
        box.start()
        do_with_each(connected, write_and_read, BUSY)
        do_with_each([each for each in hosted if each.kind.name in TYPESCRIPT], give_up, len(TYPESCRIPT))
        do_with_each(hosted, wait_in_vain, len(hosted))


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
    spender = world.box.client(client.connection.token)
    while spender.post(f"/tickets/{ticket}/comments", json={"body": "Again"}).status_code == 201:
        pass
    late = client.session.call("add_comment", ticket_id=ticket, body="Late")
    assert late.json()["body"] == "Late"
    assert client.session.call("get_ticket", ticket_id=ticket).json()["title"] == "Busy"


def write_and_read(client: ConnectedClient) -> None:
    """The session works, and its writes have the token's name."""
    session, ticket, body = client.session, client.ticket, f"After, {client.name}"
    assert session.call("add_comment", ticket_id=ticket, body=body).json()["body"] == body
    assert session.call("get_ticket", ticket_id=ticket).json()["id"] == ticket
    comments = ok(client.world.api.get(f"/tickets/{ticket}/comments"))["items"]
    (comment,) = [each for each in comments if each["body"] == body]
    assert (comment["by"]["via"], comment["by"]["token_label"]) == ("mcp", client.kind.name)


def give_up(client: ConnectedClient) -> None:
    """A call whose client doesn't wait for the answer claims nothing; the client keeps its connection."""
    project = client.world.new_project("Given up")
    lost = client.session.give_up("claim_next_ticket", 2, project_id=project, run=client.name, wait_seconds=50)
    assert "timed out" in lost.error, lost
    eventually(lambda: count_waiting(client.world.box) == 0)
    ticket = client.world.ticket("After the timeout", project_id=project)["id"]
    assert ok(client.world.api.post(f"/projects/{project}/claim-next", json={}))["id"] == ticket


def wait_in_vain(client: ConnectedClient) -> None:
    """No client gives up in the time before the server answers that there is no ticket."""
    project = client.world.new_project("Empty")
    nothing = client.session.call("claim_next_ticket", project_id=project, wait_seconds=25).json()
    assert (nothing["claimed"], nothing["waited_seconds"]) == (False, 25)
