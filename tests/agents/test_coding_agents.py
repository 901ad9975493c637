"""Real coding agents with a scripted model: each test asserts what the model gets.

An agent differs from an MCP client in what it passes on: some pass only parts of a result to the model, scale its
pictures, or wrap its text.
"""

import re
import threading
import time
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

from tests.agents.coding_agents import AGENTS, Agent, Connection
from tests.agents.mock_model import Call, MockModel, Result, Script
from tests.support.mcp_client import ALL, create_capture
from tests.support.server import World, find_free_port, ok, run_server
from tests.support.tokens import count_picture_tokens, count_tokens

pytestmark = pytest.mark.long


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


def connect(world: World, transport: str, token: str | None = None) -> Connection:
    """An agent's connection, with a token that may do everything unless another is given."""
    return Connection(transport, world.box.url, token or world.owner.token(*ALL, label="agent"))


def assert_shows(result: Result, width: int, height: int) -> None:
    """The model got one picture, in this size or scaled down by the agent."""
    assert len(result.pictures) == 1, result.raw
    with Image.open(BytesIO(result.pictures[0])) as picture:
        assert picture.width <= width
        assert abs(picture.width / picture.height - width / height) < 0.01


def test_agent_works_on_a_ticket(world: World, agent: Agent, transport: str, model: MockModel, tmp_path: Path) -> None:
    """Find, look, start, comment, move and stop; the model sees the texts and the pictures."""
    receipt = create_capture(world)
    ticket = receipt["ticket_id"]

    def script() -> Script:
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
        yield Call("move_ticket", {"ticket_id": ticket, "column_id": world.columns[2]})
        stopped = yield Call("stop_work_on_ticket", {"ticket_id": ticket, "lease": lease})
        assert "claim" not in stopped.json()
        return "Fixed."

    model.follow(script)
    agent.run(connect(world, transport), model, tmp_path)
    left = ok(world.api.get(f"/tickets/{ticket}", params={"include": "comments"}))
    assert (left["column_id"], left["claim"]) == (world.columns[2], None)
    (comment,) = left["comments"]
    assert (comment["body"], comment["by"]["via"], comment["by"]["token_label"]) == (
        "The cart was null; fixed.", "mcp", "agent",
    )  # fmt: skip


def test_model_reads_what_to_do_after_each_refusal(
    world: World, agent: Agent, transport: str, model: MockModel, tmp_path: Path
) -> None:
    """Unknown ticket, changed ticket, used-up budget, revoked token: the session goes on after each of them."""
    ticket = world.ticket("Secret cart")["id"]
    ok(world.api.patch(f"/tickets/{ticket}", json={"title": "Renamed cart"}))
    token = world.owner.token(*ALL, label="to revoke")

    def script() -> Script:
        lost = yield Call("get_ticket", {"ticket_id": "t-zzzzzzzz"})
        assert "not_found" in lost.text
        assert "list_tickets or search_tickets" in lost.text
        stale = yield Call("update_ticket", {"ticket_id": ticket, "title": "Mine", "expected_version": 1})
        assert "version_conflict" in stale.text
        assert "Read `current`, then call again with its version." in stale.text
        assert "Renamed cart" in stale.text
        limit_writes(world, 1)
        yield Call("add_comment", {"ticket_id": ticket, "body": "First"})
        hasty = yield Call("add_comment", {"ticket_id": ticket, "body": "Second"})
        assert re.search(r"429|rate.limit|try again in \d+ s", hasty.text), hasty.raw
        read = yield Call("get_ticket", {"ticket_id": ticket})
        assert "Renamed cart" in read.text
        ok(world.owner.web.delete(f"/tokens/{world.owner.find_token('to revoke')}"))
        revoked = yield Call("get_ticket", {"ticket_id": ticket})
        assert "Renamed cart" not in revoked.text
        assert re.search(r"401|revoked|auth", revoked.text, re.IGNORECASE), revoked.raw
        return "Stopped."

    model.follow(script)
    agent.run(connect(world, transport, token), model, tmp_path)


def limit_writes(world: World, per_minute: int) -> None:
    """Set the budget of the company's tokens."""
    limits = {"reads_per_minute": None, "writes_per_minute": per_minute}
    ok(world.owner.web.patch(f"/companies/{world.company}", json={"limits": limits}))


def test_session_survives_an_absence_of_the_server(
    agent: Agent, transport: str, model: MockModel, tmp_path: Path
) -> None:
    with run_server(tmp_path, "--port", str(find_free_port())) as box:
        world = World(box)
        ticket = world.ticket("Cart")["id"]

        def script() -> Script:
            before = yield Call("get_ticket", {"ticket_id": ticket})
            assert before.json()["title"] == "Cart"
            box.stop()
            during = yield Call("get_ticket", {"ticket_id": ticket})
            assert "Cart" not in during.text
            if transport == "stdio":
                assert "can't be reached" in during.text, during.raw
            box.start()
            after = yield Call("get_ticket", {"ticket_id": ticket})
            assert after.json()["title"] == "Cart"
            return "Read twice."

        model.follow(script)
        agent.run(connect(world, transport), model, tmp_path)


def test_waiting_agent_gets_a_new_ticket(
    world: World, agent: Agent, transport: str, model: MockModel, tmp_path: Path
) -> None:
    """An agent's call may last so long that it gets the ticket as soon as somebody creates it."""
    created: list[str] = []
    delay = threading.Timer(2, lambda: created.append(world.ticket("New")["id"]))  # the agent waits already

    def script() -> Script:
        first = yield Call("wait_for_events", {"wait_seconds": 0})
        delay.start()
        wait = {"after": first.json()["last"], "types": ["ticket.created"], "wait_seconds": 40}
        begun = time.monotonic()
        event = yield Call("wait_for_events", wait)
        delay.join()  # the event may arrive before the answer to the request that created the ticket
        assert [each["ticket_id"] for each in event.json()["items"]] == created
        assert time.monotonic() - begun < 40
        return "Found it."

    model.follow(script)
    agent.run(connect(world, transport)._replace(tools="all"), model, tmp_path)


def test_agent_waits_as_long_as_a_call_does_by_default(
    world: World, agent: Agent, model: MockModel, tmp_path: Path
) -> None:
    """No agent gives up before the server answers, or takes the answer for an error."""

    def script() -> Script:
        nothing = yield Call("claim_next_ticket", {"project_id": world.project})
        assert {"null", "{}"} & set(nothing.text.splitlines()), nothing.raw
        return "Nothing to do."

    model.follow(script)
    agent.run(connect(world, "http"), model, tmp_path)


def test_agent_asks_a_person_and_finishes(
    world: World, agent: Agent, transport: str, model: MockModel, tmp_path: Path
) -> None:
    """Six calls, and at most 8,000 tokens of results as the model gets them."""
    ticket = create_capture(world)["ticket_id"]
    choices = ["Yes", "No"]

    def script() -> Script:
        listed = yield Call("list_tickets", {"project_id": world.project})
        assert ticket in listed.text
        started = yield Call("start_work_on_ticket", {"ticket_id": ticket, "run": agent.name})
        claim = {"ticket_id": ticket, "lease": started.json()["lease"]}
        read = yield Call("get_ticket", {"ticket_id": ticket})
        assert_shows(read, 1568, 784)
        asked = yield Call("ask_human", {**claim, "question": "Drop support for v1?", "choices": choices})
        question = asked.json()["id"]
        person = threading.Timer(2, answer_question, (world, question, "Yes"))  # the agent waits already
        person.start()
        answer = yield Call("wait_for_answer", claim)
        person.join()
        assert answer.json()["answer"] == "Yes"
        finished = yield Call("finish_work", {**claim, "comment": "Dropped v1.", "column": "Done"})
        assert finished.json()["id"] == ticket
        return "Finished."

    model.follow(script)
    agent.run(connect(world, transport), model, tmp_path)
    left = ok(world.api.get(f"/tickets/{ticket}", params={"include": "comments"}))
    assert (left["column_id"], left["claim"], left["comments"][0]["body"]) == (world.columns[2], None, "Dropped v1.")
    texts = sum(count_tokens(result.text) for result in model.results)
    assert texts + sum(count_picture_tokens(each) for result in model.results for each in result.pictures) <= 8_000


def answer_question(world: World, question: str, answer: str) -> None:
    """Answer a question as a person does in the web app."""
    ok(world.owner.web.post(f"/questions/{question}/answer", json={"answer": answer}))
