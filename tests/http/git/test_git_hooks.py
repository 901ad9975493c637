"""Git hooks: signed deliveries link tickets to branches, commits and pull requests (docs/use/git.md)."""

import contextlib
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest

from tests.support.git_payloads import (
    GITHUB,
    HEAD,
    OLD_HEAD,
    Payload,
    build_check_suite,
    build_commit,
    build_headers,
    build_merge_request,
    build_pipeline,
    build_pull_request,
    build_push,
    build_status,
    encode,
)
from tests.support.long_runs import choose_rounds
from tests.support.mcp_client import call_tool
from tests.support.operation_cases import draw_address, update_row
from tests.support.server import World, eventually, expect_error, ok
from ticketbox.domain.git.signatures import Provider


class Repository:
    """A repository that delivers to a project's git hook, and the project's tickets."""

    def __init__(self, world: World, project: str | None = None, **given: Any) -> None:
        self.world = world
        self.path = f"/projects/{project or world.project}/git-hooks"
        made = ok(world.owner.web.post(self.path, json={"name": "shop/web", **given}))
        self.id: str = made["git_hook"]["id"]
        self.url: str = made["url"]
        self.secret: str = made["secret"]

    def deliver(self, payload: Payload, provider: Provider = Provider.GITHUB, secret: str = "") -> httpx.Response:
        """Send a signed delivery."""
        body = encode(payload)
        return self.send(body, build_headers(provider, secret or self.secret, body))

    def send(self, body: bytes, headers: dict[str, str]) -> httpx.Response:
        """Send a delivery as it is."""
        return httpx.post(self.url, content=body, headers={"X-Forwarded-For": draw_address(), **headers})

    def queue(self, payload: Payload, provider: Provider = Provider.GITHUB) -> None:
        """Send a delivery that is about tickets, and wait until it is applied."""
        answer = self.deliver(payload, provider)
        assert (answer.status_code, answer.json()) == (202, {"status": "queued"})
        eventually(lambda: not count_waiting(self.world, self.id))

    def read(self, ticket: dict[str, Any]) -> dict[str, Any]:
        """Read a ticket."""
        return ok(self.world.api.get(f"/tickets/{ticket['id']}"))

    def links(self, ticket: dict[str, Any]) -> list[dict[str, Any]]:
        """The links of a ticket."""
        return self.read(ticket)["git_links"]

    def events(self, ticket: dict[str, Any]) -> list[str]:
        """The types of a ticket's events."""
        return [each["type"] for each in ok(self.world.api.get(f"/tickets/{ticket['id']}/history"))["items"]]


def count_rows(world: World, query: str, public_id: str) -> int:
    """How many rows the file has."""
    with contextlib.closing(sqlite3.connect(f"file:{world.box.db}?mode=ro", uri=True)) as file:
        return file.execute(f"SELECT count(*) FROM {query}", (public_id,)).fetchone()[0]


def count_waiting(world: World, hook: str) -> int:
    """How many deliveries of a hook wait."""
    query = "git_delivery d JOIN git_hook h ON h.id = d.hook_id WHERE h.public_id = ? AND d.changes IS NOT NULL"
    return count_rows(world, query, hook)


@pytest.fixture
def repository(world: World) -> Repository:
    """A repository with a git hook of the world's project."""
    return Repository(world)


def test_pull_request_links_itself_and_closes_the_ticket_when_merged(world: World, repository: Repository) -> None:
    fixed, named = world.ticket(), world.ticket()
    text = f"Fixes {fixed['key']}. See {named['id']}"
    repository.queue(build_pull_request("Keep the cart", text))
    (link,) = repository.links(fixed)
    assert link == {
        "kind": "pull_request", "url": f"{GITHUB}/pull/7", "name": "#7", "title": "Keep the cart", "state": "open",
        "checks": None, "check_count": None, "updated": "2026-11-02T10:00:00.000Z",
    }  # fmt: skip
    assert repository.links(named) == [link]
    repository.queue(build_check_suite(None))
    repository.queue(build_status("success"))
    assert repository.links(fixed)[0]["checks"] == "pending"
    repository.queue(build_check_suite("success"))
    assert repository.links(fixed)[0]["checks"] == "passing"
    assert repository.links(fixed)[0]["check_count"] == 1 + 12  # a status, and the checks of the suite
    repository.queue(build_status("failure", "ci/lint"))
    assert repository.links(named)[0]["checks"] == "failing"
    merged = build_pull_request("Keep the cart", text, state="closed", merged=True, at="2026-11-02T11:00:00Z")
    repository.queue(merged)
    assert repository.links(fixed)[0]["state"] == repository.links(named)[0]["state"] == "merged"
    done, other = repository.read(fixed), repository.read(named)
    assert (done["resolved"], done["column"], other["resolved"]) == (True, "Done", False)
    assert done["updated"]["token_label"] == "shop/web"
    assert repository.events(fixed)[1:3] == ["ticket.git_linked", "ticket.git_changed"]
    ok(world.api.patch(f"/tickets/{fixed['id']}", json={"resolved": False}))
    assert repository.deliver(merged).json() == {"status": "repeated"}
    late = build_pull_request("Keep it", text, state="closed", merged=True, at="2026-11-02T12:00:00Z")
    repository.queue(late)
    assert not repository.read(fixed)["resolved"]
    assert repository.links(fixed)[0]["title"] == "Keep it"


def test_ticket_has_its_newest_open_pull_request(world: World, repository: Repository) -> None:
    ticket, other = world.ticket(), world.ticket()

    def find() -> Any:
        rows = {
            each["id"]: each for each in ok(world.api.get("/tickets", params={"project_id": world.project}))["items"]
        }
        assert rows[other["id"]]["pull_request"] is None
        assert rows[ticket["id"]]["pull_request"] == repository.read(ticket)["pull_request"]
        return rows[ticket["id"]]["pull_request"]

    def report(**link: str) -> None:
        links = [{"kind": "pull_request", **link}]
        ok(world.api.post(f"/tickets/{ticket['id']}/work/progress", json={"lease": lease, "links": links}))

    lease = ok(world.api.post(f"/tickets/{ticket['id']}/work", json={}))["lease"]
    assert find() is None
    report(url="https://git.example/shop/-/merge_requests/3")
    assert find() == {"name": "!3", "url": "https://git.example/shop/-/merge_requests/3"}
    report(url=f"{GITHUB}/pull/7/", state="open")
    assert find() == {"name": "#7", "url": f"{GITHUB}/pull/7/"}
    report(url=f"{GITHUB}/pull/8", state="Closed")
    assert find()["name"] == "#7"
    repository.queue(build_pull_request("Keep the cart", f"See {ticket['key']}"))
    assert find() == {"name": "#7", "url": f"{GITHUB}/pull/7"}
    closed = build_pull_request("Keep the cart", f"See {ticket['key']}", state="closed", at="2026-11-02T11:00:00Z")
    repository.queue(closed)
    assert find()["name"] == "!3"  # what the session says about the other one is older than what the hook says
    ok(world.api.delete(f"/tickets/{ticket['id']}/work", headers={"Lease": lease}))
    ok(world.api.post(f"/tickets/{ticket['id']}/work", json={}))
    assert find()["name"] == "!3"
    found = call_tool(world, world.owner.token("read"), "list_tickets", {})["structuredContent"]["items"]
    assert {each.get("pull_request") for each in found} == {"!3", None}


@pytest.mark.parametrize("provider", [Provider.GITLAB, Provider.GITEA])
def test_each_provider_links_and_closes(world: World, repository: Repository, provider: Provider) -> None:
    ticket = world.ticket()
    build = build_merge_request if provider is Provider.GITLAB else build_pull_request
    repository.queue(build(f"Fixes {ticket['key']}"), provider)
    if provider is Provider.GITLAB:
        repository.queue(build_pipeline("failed"), provider)
        link = repository.links(ticket)[0]
        assert (link["checks"], link["check_count"]) == ("failing", 2)
        repository.queue(build_merge_request(f"Fixes {ticket['key']}", state="merged"), provider)
    else:
        repository.queue(build_pull_request(f"Fixes {ticket['key']}", state="closed", merged=True), provider)
    assert repository.links(ticket)[0]["state"] == "merged"
    assert repository.read(ticket)["resolved"]


def test_pull_request_of_a_renamed_repository_keeps_its_link(world: World, repository: Repository) -> None:
    ticket = world.ticket()
    text = f"Fixes {ticket['key']}"
    repository.queue(build_pull_request(text, base="https://github.example/old/web"))
    repository.queue(build_pull_request(text, state="closed", merged=True, at="2026-11-02T11:00:00Z"))
    (link,) = repository.links(ticket)
    assert (link["url"], link["state"]) == (f"{GITHUB}/pull/7", "merged")
    assert repository.read(ticket)["pull_request"] is None


def test_reverted_fix_leaves_the_reopened_ticket_open(world: World, repository: Repository) -> None:
    ticket = world.ticket()
    repository.queue(build_push("main", build_commit(f"Fixes {ticket['key']}: cart")))
    ok(world.api.patch(f"/tickets/{ticket['id']}", json={"resolved": False}))
    message = f'Revert "Fixes {ticket["key"]}: cart"\n\nThis reverts commit {HEAD}.'
    repository.queue(build_push("main", build_commit(message, OLD_HEAD)))
    assert not repository.read(ticket)["resolved"]
    assert len(repository.links(ticket)) == 2


def test_older_news_doesnt_change_a_link(world: World, repository: Repository) -> None:
    ticket = world.ticket()
    repository.queue(build_pull_request(ticket["key"], state="closed", at="2026-11-02T12:00:00Z"))
    repository.queue(build_pull_request(ticket["key"], at="2026-11-02T11:00:00Z"))
    assert repository.links(ticket)[0]["state"] == "closed"
    repository.queue(build_pull_request(ticket["key"], at="2026-11-02T13:00:00Z"))
    assert repository.links(ticket)[0]["state"] == "open"


def test_branch_and_commits_link_themselves_and_close_the_ticket_in_the_default_branch(
    world: World, repository: Repository
) -> None:
    ticket = world.ticket()
    commit = build_commit(f"Keep the cart\n\nFixes {ticket['key']}")
    repository.queue(build_push(f"{ticket['key']}-cart", commit))
    assert [(each["kind"], each["name"], each["state"]) for each in repository.links(ticket)] == [
        ("branch", f"{ticket['key']}-cart", "open"), ("commit", HEAD[:10], None),
    ]  # fmt: skip
    assert not repository.read(ticket)["resolved"]
    repository.queue(build_push("main", commit))
    assert repository.links(ticket)[1]["state"] == "merged"
    assert repository.read(ticket)["resolved"]


def test_ticket_has_at_most_a_hundred_links(world: World, repository: Repository) -> None:
    ticket = world.ticket()

    def push(*commits: int) -> int:
        """Push commits that name the ticket; how many links it has then."""
        made = [build_commit(f"Part of {ticket['key']}", f"{number + 1:040x}") for number in commits]
        repository.queue(build_push("main", *made))
        return count_rows(world, "git_link g JOIN ticket t ON t.id = g.ticket_id WHERE t.public_id = ?", ticket["id"])

    assert push(*range(99)) == 99
    assert push(99, 100) == 100
    assert push(101) == 100


def test_gate_of_the_project_holds_what_a_merge_would_close(world: World, repository: Repository) -> None:
    ok(world.owner.web.patch(f"/projects/{world.project}", json={"done_approval": True}))
    ticket = world.ticket()
    repository.queue(build_pull_request(f"Fixes {ticket['key']}", state="closed", merged=True))
    assert repository.links(ticket)[0]["state"] == "merged"
    after = repository.read(ticket)
    assert (after["resolved"], after["column"]) == (False, ticket["column"])
    assert repository.events(ticket)[-1] == "ticket.git_held"


def test_hook_that_doesnt_close_tickets_only_links_them(world: World, repository: Repository) -> None:
    ok(world.owner.web.patch(f"/git-hooks/{repository.id}", json={"closes_tickets": False, "name": "Linking"}))
    ticket = world.ticket()
    repository.queue(build_pull_request(f"Fixes {ticket['key']}", state="closed", merged=True))
    assert repository.links(ticket)[0]["state"] == "merged"
    assert not repository.read(ticket)["resolved"]


def test_hook_reaches_only_its_project_and_leaves_archived_tickets(world: World, repository: Repository) -> None:
    elsewhere = world.ticket(project_id=world.new_project("Other"))
    archived = world.ticket()
    ok(world.api.post(f"/tickets/{archived['id']}/archive"))
    repository.queue(
        build_pull_request(
            f"Fixes {elsewhere['key']}, {elsewhere['id']}, {archived['key']}", state="closed", merged=True
        )
    )
    assert repository.links(elsewhere) == []
    assert not repository.read(elsewhere)["resolved"]
    after = ok(world.api.get(f"/tickets/{archived['id']}", params={"status": "archived"}))
    assert not after["resolved"]


def test_forged_and_unsigned_deliveries_are_refused(world: World, repository: Repository) -> None:
    ticket = world.ticket()
    body = encode(build_pull_request(ticket["key"]))
    refused = [
        repository.send(body, {"Content-Type": "application/json"}),
        *(repository.deliver(build_pull_request(ticket["key"]), each, "gitkey_wrong") for each in Provider),
        repository.send(body + b" ", build_headers(Provider.GITHUB, repository.secret, body)),
    ]
    unknown = repository.url[:-1] + ("a" if repository.url[-1] != "a" else "b")
    for url in (unknown, f"{world.box.url}/hooks/git/githook_"):
        headers = build_headers(Provider.GITHUB, repository.secret, body)
        refused.append(httpx.post(url, content=body, headers={"X-Forwarded-For": draw_address(), **headers}))
    for answer in refused:
        expect_error(answer, 401, "unauthorized")
    assert repository.links(ticket) == []
    assert ok(world.owner.web.get(repository.path))["items"][-1]["last_delivery"] is None
    malformed = b'{"pull_request": 7}'
    expect_error(
        repository.send(malformed, build_headers(Provider.GITHUB, repository.secret, malformed)), 400, "invalid_request"
    )
    deep = b"[" * 100_000
    expect_error(repository.send(deep, build_headers(Provider.GITHUB, repository.secret, deep)), 400, "invalid_request")


def test_form_and_delivery_about_nothing_are_accepted(world: World, repository: Repository) -> None:
    ticket = world.ticket()
    body = urlencode({"payload": encode(build_pull_request(ticket["key"])).decode()}).encode()
    headers = build_headers(Provider.GITHUB, repository.secret, body)
    form = repository.send(body, {**headers, "Content-Type": "application/x-www-form-urlencoded"})
    assert form.json() == {"status": "queued"}
    eventually(lambda: repository.links(ticket))
    assert repository.deliver({"zen": "Keep it logically awesome."}).json() == {"status": "ignored"}
    assert ok(world.owner.web.get(repository.path))["items"][-1]["last_delivery"] is not None


def test_rotated_secret_replaces_the_old_one_after_a_day(world: World, repository: Repository) -> None:
    new = ok(world.owner.web.post(f"/git-hooks/{repository.id}/rotate"))
    assert new["url"] is None
    assert new["git_hook"]["old_secret_until"] is not None
    assert repository.deliver({"hook": 1}, secret=new["secret"]).status_code == 202
    assert repository.deliver({"hook": 2}).status_code == 202
    update_row(world.box.db, "UPDATE git_hook SET old_until = 1 WHERE public_id = ?", repository.id)
    expect_error(repository.deliver({"hook": 3}), 401, "unauthorized")
    assert repository.deliver({"hook": 4}, secret=new["secret"]).status_code == 202


def test_deleted_hook_refuses_deliveries_and_its_links_stay(world: World, repository: Repository) -> None:
    ticket = world.ticket()
    repository.queue(build_pull_request(ticket["key"]))
    ok(world.owner.web.delete(f"/git-hooks/{repository.id}"))
    expect_error(repository.deliver(build_push("main")), 401, "unauthorized")
    assert len(repository.links(ticket)) == 1
    audit = ok(world.owner.web.get(f"/companies/{world.company}/audit"))["items"]
    assert [each["type"] for each in audit if "hook" in each["type"]] == ["git_hook.removed", "git_hook.created"]


def test_project_has_a_limited_number_of_hooks_and_their_secrets_stay_out_of_logs(world: World) -> None:
    mark = world.box.log_size()
    made = [Repository(world) for _ in range(20)]
    expect_error(world.owner.web.post(made[0].path, json={"name": "one more"}), 409, "conflict")
    listed = ok(world.owner.web.get(made[0].path))["items"]
    assert {each["id"] for each in listed} == {each.id for each in made}
    made[0].deliver({"hook": 1})
    log = eventually(lambda: text if "/hooks/git/" in (text := world.box.log_after(mark)) else None)
    assert "githook_…" in log
    assert made[0].url.rpartition("_")[2] not in log
    for hook in made:
        ok(world.owner.web.delete(f"/git-hooks/{hook.id}"))


QUEUE = """
INSERT INTO git_delivery (hook_id, body_hash, changes, received_at)
WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < ?)
SELECT h.id, randomblob(16), CAST('{}' AS BLOB), 0 FROM git_hook h CROSS JOIN number WHERE h.public_id = ?
"""
LEAVE = "DELETE FROM git_delivery WHERE id IN (SELECT id FROM git_delivery WHERE received_at = 0 LIMIT -1 OFFSET ?)"


def test_hook_with_20_000_waiting_deliveries_accepts_no_more(world: World, repository: Repository) -> None:
    """Rows in the file don't wake the job that applies deliveries. Others may; it applies 20 at a time."""
    push = build_push("main", build_commit(f"Part of {world.ticket()['key']}"))
    update_row(world.box.db, QUEUE, 25_000, repository.id)
    refused = repository.deliver(push)
    assert "deliver it again later" in expect_error(refused, 503, "unavailable")["detail"]
    assert int(refused.headers["retry-after"]) > 0
    update_row(world.box.db, LEAVE, 19_999)
    assert repository.deliver(push).json() == {"status": "queued"}
    update_row(world.box.db, LEAVE, 0)


@pytest.mark.long
def test_burst_of_deliveries_is_queued_and_applied(world: World, repository: Repository) -> None:
    tickets = [world.ticket() for _ in range(10)]
    count = choose_rounds(1_500, 10_000)

    def send(client: httpx.Client, number: int) -> int:
        ticket = tickets[number % len(tickets)]
        body = encode(build_pull_request(f"{ticket['key']} {number}", number=number % 500))
        return client.post(
            repository.url, content=body, headers=build_headers(Provider.GITHUB, repository.secret, body)
        ).status_code

    with httpx.Client(timeout=60) as client, ThreadPoolExecutor(16) as pool:
        statuses = list(pool.map(lambda number: send(client, number), range(count)))
    assert statuses == [202] * count
    eventually(lambda: not count_waiting(world, repository.id), 600)
    assert sum(len(repository.links(ticket)) for ticket in tickets) == 500
