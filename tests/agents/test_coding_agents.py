"""Real coding agents with a scripted model: each test asserts what the model gets.

An agent differs from an MCP client in what it passes on: some pass only parts of a result to the model, scale its
pictures, or wrap its text. It takes seconds to start, so its model goes through several stories in one session.
"""

import re
import time
from collections.abc import Callable, Generator, Iterator
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

from tests.agents.coding_agents import AGENTS, Agent, Connection
from tests.agents.mock_model import Call, MockModel, Result, Script
from tests.agents.side_by_side import do_with_each
from tests.support.mcp_client import ALL, create_capture
from tests.support.server import (
    Box,
    World,
    act_when_a_call_waits,
    count_waiting,
    eventually,
    find_free_port,
    ok,
    run_server,
)
from tests.support.tokens import count_picture_tokens, count_tokens

pytestmark = pytest.mark.long

Story = Generator[Call, Result, None]

TOKEN = "agent"
WAIT_SECONDS = 40
GIVE_UP_SECONDS = 5


@pytest.fixture(params=AGENTS, ids=lambda agent: agent.name)
def agent(request: pytest.FixtureRequest) -> Agent:
    """Each coding agent."""
    return request.param


@pytest.fixture(params=["http", "stdio"])
def transport(request: pytest.FixtureRequest) -> str:
    """How the agent connects."""
    return request.param


@pytest.fixture
def model() -> Iterator[MockModel]:
    """The agent's model."""
    with MockModel() as running:
        yield running


@pytest.fixture(scope="module")
def restarting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Box]:
    """A server that these tests restart."""
    with run_server(tmp_path_factory.mktemp("restarting"), "--port", str(find_free_port())) as running:
        yield running


def connect(world: World, transport: str, tools: str = "core") -> Connection:
    """An agent's connection, with a token that may do everything."""
    return Connection(transport, world.box.url, world.owner.token(*ALL, label=TOKEN), tools=tools)


def test_agent_waits_works_asks_reads_refusals_and_survives_an_absence_of_the_server(
    restarting: Box, agent: Agent, transport: str, model: MockModel, tmp_path: Path
) -> None:
    """One session, which goes on after each refusal: over HTTP with all tools, otherwise with the default set."""
    if restarting.process.poll() is not None:
        restarting.start()  # an agent ended while it was stopped
    world = World(restarting)
    ticket = create_capture(world)["ticket_id"]

    def script() -> Script:
        yield from wait_for_a_new_ticket(world)
        yield from read_before_during_and_after_an_absence(world, transport)
        yield from work_on_a_ticket(world, ticket)
        begin = len(model.results)
        yield from ask_a_person_and_finish(world, ticket, agent.name)
        assert_cheap(model.results[begin:])
        yield from read_refusals(world)
        return "Stopped."

    model.follow(script)
    tools = {"http": "all", "stdio": "core"}[transport]
    agent.run(connect(world, transport, tools), model, tmp_path)
    assert bool(find_offered(model, "list_companies")) == (tools == "all")


def find_offered(model: MockModel, name: str) -> list[str]:
    """The tools with this name that the agent offered last; agents put the server's name in front."""
    return [each for each in model.tools if each.endswith(name)]


def work_on_a_ticket(world: World, ticket: str) -> Story:
    """Find, look, start, comment, move and stop; the model sees the texts and the pictures."""
    listed = yield Call("list_tickets", {"project_id": world.project})
    assert [each["id"] for each in listed.json()["items"]] == [ticket]
    read = yield Call("get_ticket", {"ticket_id": ticket})
    found = read.json()
    assert (found["id"], found["capture"]["errors"]["items"][0]["message"]) == (ticket, "cart is null")
    assert_shows(read, 1568, 784)
    shot = yield Call("get_screenshot", {"ticket_id": ticket, "max_side": 800})
    assert shot.json() == {"media_type": "image/png", "width": 800, "height": 400}
    assert_shows(shot, 800, 400)
    started = yield Call("start_work_on_ticket", {"ticket_id": ticket})
    lease = started.json()["lease"]
    comment = yield Call("add_comment", {"ticket_id": ticket, "body": "The cart was null; fixed."})
    assert "fixed" in comment.text
    yield Call("move_ticket", {"ticket_id": ticket, "column_id": world.columns[1]})
    stopped = yield Call("stop_work_on_ticket", {"lease": lease})
    assert "claim" not in stopped.json()
    left = ok(world.api.get(f"/tickets/{ticket}", params={"include": "comments"}))
    assert (left["column_id"], left["claim"]) == (world.columns[1], None)
    (comment,) = left["comments"]
    assert (comment["body"], comment["by"]["via"], comment["by"]["token_label"]) == (
        "The cart was null; fixed.", "mcp", TOKEN,
    )  # fmt: skip


def assert_shows(result: Result, width: int, height: int) -> None:
    """The model got one picture, in this size or scaled down by the agent."""
    assert len(result.pictures) == 1, result.raw
    with Image.open(BytesIO(result.pictures[0])) as picture:
        assert picture.width <= width
        assert abs(picture.width / picture.height - width / height) < 0.01


def ask_a_person_and_finish(world: World, ticket: str, run: str) -> Story:
    """Find, start, look, ask, wait for the answer and finish."""
    listed = yield Call("list_tickets", {"project_id": world.project})
    assert ticket in listed.text
    started = yield Call("start_work_on_ticket", {"ticket_id": ticket, "run": run})
    claim = {"lease": started.json()["lease"]}  # it names the ticket
    read = yield Call("get_ticket", {"ticket_id": ticket})
    assert_shows(read, 1568, 784)
    asked = yield Call("ask_human", {**claim, "question": "Drop support for v1?", "choices": ["Yes", "No"]})
    path = f"/questions/{asked.json()['id']}/answer"
    with act_when_a_call_waits(world.box, lambda: ok(world.owner.web.post(path, json={"answer": "Yes"}))):
        answer = yield Call("wait_for_answer", claim)
    assert answer.json()["answer"] == "Yes"
    finished = yield Call("finish_work", {**claim, "comment": "Dropped v1.", "column": "Done"})
    assert finished.json()["id"] == ticket
    left = ok(world.api.get(f"/tickets/{ticket}", params={"include": "comments"}))
    assert (left["column_id"], left["claim"]) == (world.columns[2], None)
    assert "Dropped v1." in [each["body"] for each in left["comments"]]


def assert_cheap(results: list[Result]) -> None:
    """Six calls, and at most 8,000 tokens of results as the model gets them."""
    texts = sum(count_tokens(result.text) for result in results)
    pictures = sum(count_picture_tokens(each) for result in results for each in result.pictures)
    assert (len(results), texts + pictures <= 8_000) == (6, True), (texts, pictures)


def read_refusals(world: World) -> Story:
    """Unknown ticket, changed ticket, used-up budget, revoked token: the model reads what to do after each of them."""
    ticket = world.ticket("Secret cart")["id"]
    ok(world.api.patch(f"/tickets/{ticket}", json={"title": "Renamed cart"}))
    lost = yield Call("get_ticket", {"ticket_id": "t-zzzzzzzz"})
    assert "not_found" in lost.text
    assert "list_tickets or search_tickets" in lost.text
    stale = yield Call("update_ticket", {"ticket_id": ticket, "title": "Mine", "expected_version": 1})
    assert "version_conflict" in stale.text
    assert "Read `current`, then call again with its version." in stale.text
    assert "Renamed cart" in stale.text
    limits = {"reads_per_minute": None, "writes_per_minute": 1}
    ok(world.owner.web.patch(f"/companies/{world.company}", json={"limits": limits}))
    yield Call("add_comment", {"ticket_id": ticket, "body": "First"})
    hasty = yield Call("add_comment", {"ticket_id": ticket, "body": "Second"})
    assert re.search(r"429|rate.limit|try again in \d+ s", hasty.text), hasty.raw
    read = yield Call("get_ticket", {"ticket_id": ticket})
    assert "Renamed cart" in read.text
    ok(world.owner.web.delete(f"/tokens/{world.owner.find_token(TOKEN)}"))
    revoked = yield Call("get_ticket", {"ticket_id": ticket})
    assert "Renamed cart" not in revoked.text
    assert re.search(r"401|revoked|auth", revoked.text, re.IGNORECASE), revoked.raw


def wait_for_a_new_ticket(world: World) -> Story:
    """An agent's call may last so long that it gets the ticket as soon as somebody creates it."""
    project = world.new_project("Elsewhere")
    created: list[str] = []
    begun = time.monotonic()
    with act_when_a_call_waits(world.box, lambda: created.append(world.ticket("New", project_id=project)["id"])):
        claimed = yield Call("claim_next_ticket", {"project_id": project, "wait_seconds": WAIT_SECONDS})
    assert [claimed.json()["id"]] == created
    assert time.monotonic() - begun < WAIT_SECONDS


def read_before_during_and_after_an_absence(world: World, transport: str) -> Story:
    """Stop the server and start it again."""
    ticket = world.ticket("Cart", project_id=world.new_project("Elsewhere"))["id"]
    before = yield Call("get_ticket", {"ticket_id": ticket})
    assert before.json()["title"] == "Cart"
    world.box.stop()
    during = yield Call("get_ticket", {"ticket_id": ticket})
    world.box.start()
    assert "Cart" not in during.text
    if transport == "stdio":
        assert "can't be reached" in during.text, during.raw
    after = yield Call("get_ticket", {"ticket_id": ticket})
    assert after.json()["title"] == "Cart"


def test_agents_wait_as_long_as_a_call_does_or_give_up_and_claim_nothing(restarting: Box, tmp_path: Path) -> None:
    """First those that give up, then all at the same time, because each waits for 25 seconds."""
    if restarting.process.poll() is not None:
        restarting.start()  # an agent ended while it was stopped
    world = World(restarting)

    def run(agent: Agent, script: Callable[[], Script], connection: Connection) -> None:
        folder = tmp_path / f"{agent.name}, {connection.seconds}"
        folder.mkdir()
        with MockModel() as model:
            model.follow(script)
            agent.run(connection, model, folder)

    def give_up(agent: Agent) -> None:
        project = world.new_project(agent.name)

        def script() -> Script:
            wait = {"project_id": project, "run": agent.name, "wait_seconds": 50}
            lost = yield Call("claim_next_ticket", wait)
            assert "timed out" in lost.text, lost.raw
            eventually(lambda: count_waiting(restarting) == 0)
            ticket = world.ticket("After the timeout", project_id=project)["id"]
            found = yield Call("get_ticket", {"ticket_id": ticket})
            assert "claim" not in found.json()
            assert ok(world.api.post(f"/projects/{project}/claim-next", json={}))["id"] == ticket
            return "Nobody holds the ticket."

        run(agent, script, connect(world, "http")._replace(seconds=GIVE_UP_SECONDS))

    def wait(agent: Agent) -> None:
        def script() -> Script:
            nothing = yield Call("claim_next_ticket", {"project_id": world.project, "wait_seconds": 25})
            assert nothing.json()["claimed"] is False
            return "Nothing to do."

        run(agent, script, connect(world, "http"))

    impatient = [each for each in AGENTS if each.name in {"opencode", "gemini-cli"}]
    do_with_each(impatient, give_up, len(impatient))
    do_with_each(AGENTS, wait, len(AGENTS))
