"""Questions of a run to people: asked, answered, waited for (docs/use/work-sessions.md, "Questions")."""

import threading
import time
from typing import Any

import httpx
import pytest

from tests.http.work.test_claims import expire, start, stop
from tests.support.operation_cases import WRITING
from tests.support.server import Person, World, expect_error, ok

CHOICES = ["Yes", "No"]


class Asking:
    """A run that works on a ticket of Ann's."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.client = world.owner.client(*WRITING, label="my agent")
        self.ticket = world.ticket()["id"]
        self.lease = start(self.client, self.ticket)["lease"]

    def post(self, **given: Any) -> httpx.Response:
        """Ask."""
        sent = {"lease": self.lease, "question": "Drop v1?", **given}
        return self.client.post(f"/tickets/{self.ticket}/work/questions", json=sent)

    def wait(self, seconds: int = 0) -> httpx.Response:
        """Wait for the answer."""
        path = f"/tickets/{self.ticket}/work/answer"
        return self.client.get(path, params={"wait_seconds": seconds}, headers={"Lease": self.lease})


@pytest.fixture
def asking(world: World) -> Asking:
    """A run that can ask."""
    return Asking(world)


def answer(client: httpx.Client, question: str, text: str) -> httpx.Response:
    """Answer a question."""
    return client.post(f"/questions/{question}/answer", json={"answer": text})


def inbox(person: Person) -> list[dict[str, Any]]:
    """A person's notifications."""
    return ok(person.web.get("/notifications"))["items"]


def test_question_is_answered_by_a_person_and_reaches_the_run(asking: Asking) -> None:
    question = ok(asking.post(choices=CHOICES))
    assert (question["question"], question["choices"], question["answer"]) == ("Drop v1?", CHOICES, None)
    assert ok(asking.world.api.get(f"/tickets/{asking.ticket}"))["claim"]["state"] == "awaiting_input"
    assert ok(asking.wait())["answer"] is None
    bob = asking.world.join("Bob")
    answered = ok(answer(bob.web, question["id"], "Yes"))
    assert (answered["answer"], answered["answered"]["user"]["name"]) == ("Yes", "Bob")
    assert ok(asking.wait()) == answered
    assert ok(asking.world.api.get(f"/tickets/{asking.ticket}"))["claim"]["state"] == "active"
    *_, asked, told = ok(asking.world.api.get(f"/tickets/{asking.ticket}/history"))["items"]
    assert (asked["type"], told["type"]) == ("ticket.question_asked", "ticket.question_answered")
    assert (asked["data"]["question"], told["data"]["answer"]) == ("Drop v1?", "Yes")
    (session,) = ok(bob.web.get("/work-sessions", params={"ticket_id": asking.ticket}))["items"]
    assert session["question"] == answered


def test_waiting_run_gets_the_answer_as_it_is_given(asking: Asking) -> None:
    question = ok(asking.post())
    answered_at: list[float] = []

    def tell() -> None:
        time.sleep(0.5)  # the run is waiting by then; if it isn't, it gets the answer without waiting
        answered_at.append(time.monotonic())
        ok(answer(asking.world.owner.web, question["id"], "As you like"))

    teller = threading.Thread(target=tell)
    teller.start()
    assert ok(asking.wait(50))["answer"] == "As you like"
    assert time.monotonic() - answered_at[0] < 20
    teller.join()


def test_question_notifies_participants_and_the_owner_of_the_token(asking: Asking) -> None:
    world = asking.world
    assigned, writer, other = world.join("Bob"), world.join("Mia"), world.join("Eve")
    ok(world.api.put(f"/tickets/{asking.ticket}/assignees/{assigned.id}"))
    ok(writer.web.post(f"/tickets/{asking.ticket}/comments", json={"body": "Seen"}))
    ok(asking.post())
    for person in (world.owner, assigned, writer):
        newest = inbox(person)[0]
        assert (newest["reason"], newest["event_type"]) == ("question", "ticket.question_asked")
        assert newest["by"]["token_label"] == "my agent"
    assert inbox(other) == []


def test_answer_must_be_one_of_the_choices(asking: Asking) -> None:
    question = ok(asking.post(choices=CHOICES))["id"]
    problem = expect_error(answer(asking.world.owner.web, question, "Maybe"), 400, "invalid_request")
    assert problem["valid"] == CHOICES
    assert "Maybe" in problem["detail"]
    ok(answer(asking.world.owner.web, question, " No "))


def test_closed_question_names_the_accepted_answer(asking: Asking) -> None:
    question = ok(asking.post())["id"]
    ok(answer(asking.world.owner.web, question, "Yes"))
    problem = expect_error(answer(asking.world.join("Bob").web, question, "No"), 409, "question_closed")
    assert (problem["answer"], problem["answered"]["user"]["name"]) == ("Yes", "Ann")
    assert ok(asking.wait())["answer"] == "Yes"


def test_question_of_finished_work_is_closed_and_of_stale_work_is_not(asking: Asking) -> None:
    """An answer that comes in the morning is still of use to the next run."""
    stopped = ok(asking.post())["id"]
    ok(stop(asking.client, asking.ticket, asking.lease))
    assert expect_error(answer(asking.world.owner.web, stopped, "Yes"), 409, "question_closed")["answer"] is None
    asking.lease = start(asking.client, asking.ticket)["lease"]
    stale = ok(asking.post())["id"]
    expire(asking.world, asking.ticket)
    ok(answer(asking.world.owner.web, stale, "Yes"))
    expect_error(asking.wait(), 409, "lease_expired")


def test_tokens_of_the_person_whose_run_asks_cannot_answer(asking: Asking) -> None:
    question = ok(asking.post())["id"]
    for token in (asking.client, asking.world.api, asking.world.owner.client(*WRITING)):
        expect_error(answer(token, question, "Yes"), 403, "forbidden")
    assert ok(asking.wait())["answer"] is None
    answered = ok(answer(asking.world.join("Bob").client(*WRITING, label="Bob's agent"), question, "Yes"))
    assert (answered["answered"]["user"]["name"], answered["answered"]["token_label"]) == ("Bob", "Bob's agent")
    assert ok(asking.wait())["answered"] == answered["answered"]  # the run sees that an agent answered
    closed = expect_error(answer(asking.world.owner.web, question, "No"), 409, "question_closed")
    assert "Bob with Bob's agent" in closed["detail"]


def test_strangers_and_viewers_cannot_answer(asking: Asking) -> None:
    question = ok(asking.post())["id"]
    world = asking.world
    hidden = world.join("Eve", project_ids=[world.new_project("Second")])
    expect_error(answer(world.join("Vic", "viewer").web, question, "Yes"), 403, "forbidden")
    for client in (hidden.web, World(world.box, "Zoe").api):
        expect_error(answer(client, question, "Yes"), 404, "not_found")


def test_one_question_at_a_time(asking: Asking) -> None:
    first = ok(asking.post())
    assert ok(asking.post()) == first
    expect_error(asking.post(question="Drop v2?"), 409, "conflict")
    ok(answer(asking.world.owner.web, first["id"], "Yes"))
    second = ok(asking.post())
    assert second["id"] != first["id"]
    assert ok(asking.wait())["answer"] is None


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"question": ""}, "question"),
        ({"question": "x" * 2001}, "question"),
        ({"choices": ["Only one"]}, "choices"),
        ({"choices": ["a", "a"]}, "choices"),
        ({"choices": [str(number) for number in range(11)]}, "choices"),
        ({"choices": ["a", "x" * 201]}, "choices[1]"),
    ],
)
def test_invalid_question_is_refused_and_named(asking: Asking, given: dict[str, Any], named: str) -> None:
    assert expect_error(asking.post(**given), 400, "invalid_request")["errors"][0]["field"] == named


def test_only_the_lease_asks_and_waits(asking: Asking) -> None:
    expect_error(asking.wait(), 404, "not_found")
    ok(asking.post())
    asking.lease = "lease_wrong"
    for refused in (asking.post(), asking.wait()):
        assert expect_error(refused, 409, "already_claimed")["claim"]["by"]["token_label"] == "my agent"
    assert asking.client.get(f"/tickets/{asking.ticket}/work/answer").status_code == 400


def test_archiving_ends_the_wait(asking: Asking) -> None:
    ok(asking.post())
    timer = threading.Timer(0.5, lambda: ok(asking.world.owner.web.post(f"/tickets/{asking.ticket}/archive")))
    timer.start()
    expect_error(asking.wait(50), 409, "ticket_archived")
    timer.join()
