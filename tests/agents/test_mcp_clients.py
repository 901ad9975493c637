"""MCP clients that other people wrote, in the versions that are in use."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

from tests.agents.coding_agents import Connection
from tests.agents.mcp_clients import BRIDGES, CLIENTS, Answer, McpClient
from tests.support.mcp_client import ALL, create_capture
from tests.support.server import Box, World, find_free_port, ok, run_server

pytestmark = pytest.mark.long

CASES = [
    *(
        pytest.param(client, transport, id=f"{client.name}-{transport}")
        for client in CLIENTS
        for transport in ("http", "stdio")
    ),
    *(pytest.param(client, "stdio", id=client.name) for client in BRIDGES),
]


@pytest.fixture(scope="module")
def restarting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Box]:
    """A server that these tests restart."""
    with run_server(tmp_path_factory.mktemp("restarting"), "--port", str(find_free_port())) as running:
        yield running


def picture_size(answer: Answer) -> tuple[int, int]:
    """The width and height of the only picture of an answer."""
    (data,) = answer.pictures
    with Image.open(BytesIO(data)) as picture:
        return picture.size


@pytest.mark.parametrize(("client", "transport"), CASES)
def test_client_lists_reads_writes_and_survives_a_restart(
    restarting: Box, client: McpClient, transport: str, tmp_path: Path
) -> None:
    world = World(restarting)
    ticket = create_capture(world)["ticket_id"]
    connection = Connection(transport, restarting.url, world.owner.token(*ALL, label=client.name))
    with client.open(connection, tmp_path) as session:
        assert {"list_tickets", "get_ticket", "get_screenshot", "add_comment"} <= {*session.tools}
        listed = session.call("list_tickets", project_id=world.project)
        assert [each["id"] for each in listed.json()["items"]] == [ticket]
        read = session.call("get_ticket", ticket_id=ticket)
        assert read.json()["capture"]["errors"]["items"][0]["message"] == "cart is null"
        assert picture_size(read) == (1568, 784)
        shot = session.call("get_screenshot", ticket_id=ticket, max_side=500)
        assert (shot.json()["width"], picture_size(shot)) == (500, (500, 250))
        lost = session.call("get_ticket", ticket_id="t-zzzzzzzz")
        assert "not_found" in lost.text
        assert "list_tickets or search_tickets" in lost.text
        restarting.stop()
        restarting.start()
        assert session.call("add_comment", ticket_id=ticket, body="After").json()["body"] == "After"
        assert session.call("get_ticket", ticket_id=ticket).json()["id"] == ticket
    (comment,) = ok(world.api.get(f"/tickets/{ticket}/comments"))["items"]
    assert (comment["by"]["via"], comment["by"]["token_label"]) == ("mcp", client.name)


def test_clients_wait_as_long_as_a_call_does_by_default(world: World, tmp_path: Path) -> None:
    """All at the same time, because each waits for 45 seconds: no client gives up before the server answers."""

    clients = [*CLIENTS, *BRIDGES]

    def wait(client: McpClient) -> str:
        folder = tmp_path / client.name
        folder.mkdir()
        with client.open(Connection("http", world.box.url, world.owner.token(*ALL)), folder) as session:
            return session.call("claim_next_ticket", project_id=world.project).text

    with ThreadPoolExecutor(len(clients)) as threads:
        answers = dict(zip([client.name for client in clients], threads.map(wait, clients), strict=True))
    # Pydantic AI hands on the structured part, which is an object
    assert answers == {**dict.fromkeys(answers, "null"), "pydantic-ai": "{}"}


@pytest.mark.parametrize("name", ["mcp-1-9", "mcp-1-30", "langchain-mcp-adapters"])
def test_short_shortage_of_the_budget_ends_no_session(world: World, name: str, tmp_path: Path) -> None:
    """A 429 ends the sessions of these clients over HTTP, so the server waits for up to five seconds instead."""
    (client,) = [each for each in CLIENTS if each.name == name]
    ticket = world.ticket("Cart")["id"]
    limits = {"reads_per_minute": None, "writes_per_minute": 20}  # one each three seconds
    ok(world.owner.web.patch(f"/companies/{world.company}", json={"limits": limits}))
    token = world.owner.token(*ALL)
    with client.open(Connection("http", world.box.url, token), tmp_path) as session:
        spender = world.box.client(token)
        while spender.post(f"/tickets/{ticket}/comments", json={"body": "Again"}).status_code == 201:
            pass
        late = session.call("add_comment", ticket_id=ticket, body="Late")
        assert late.json()["body"] == "Late"
        assert session.call("get_ticket", ticket_id=ticket).json()["title"] == "Cart"
