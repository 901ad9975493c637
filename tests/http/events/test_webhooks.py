"""Webhooks, with a real receiver and the standard's own verifier (docs/use/webhooks.md)."""

import contextlib
import json
import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from standardwebhooks import WebhookVerificationError

from tests.support.seed import PatchedServer
from tests.support.server import Box, World, copy_initialized_file, eventually, expect_error, ok, run_server
from tests.support.webhook_receiver import Receiver, run_receiver

QUICK = """
from ticketbox.domain.events import retry_schedule as retries
from ticketbox.jobs import webhooks
retries.FIRST_MS = 100
webhooks.ANSWER_SECONDS = 8.0
from ticketbox.cli import main
main()
"""


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Box]:
    """A server that may tell this machine, tries again after 0.1 s, and waits 8 s for an answer."""
    db = copy_initialized_file(tmp_path_factory.mktemp("quick"))
    flags = ["--allow-private-addresses", "--trusted-proxy", "127.0.0.1/32"]
    with PatchedServer(QUICK, db, *flags) as running:
        yield running


@pytest.fixture
def inside(quick: Box) -> Iterator[World]:
    """A company on that server."""
    yield World(quick)
    quick.close_clients()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A receiver of the test's own."""
    with run_receiver() as running:
        yield running


def create_webhook(world: World, url: str, **more: Any) -> tuple[str, str]:
    """The id and the secret of a new webhook."""
    webhook = ok(
        world.owner.web.post(f"/companies/{world.company}/webhooks", json={"name": "Hook", "url": url, **more})
    )
    return webhook["webhook"]["id"], webhook["secret"]


def get_webhook(world: World, webhook: str) -> dict[str, Any]:
    """A webhook as the list shows it."""
    items = ok(world.owner.web.get(f"/companies/{world.company}/webhooks"))["items"]
    return next(each for each in items if each["id"] == webhook)


def list_deliveries(world: World, webhook: str) -> list[dict[str, Any]]:
    """The deliveries, oldest first."""
    return ok(world.owner.web.get(f"/webhooks/{webhook}/deliveries"))["items"][::-1]


def wait_for_requests(receiver: Receiver, count: int, seconds: float = 30.0) -> None:
    """Wait until so many requests came."""
    eventually(lambda: len(receiver.got) >= count, seconds)


def test_event_is_signed_as_standard_webhooks_requires(inside: World, receiver: Receiver) -> None:
    webhook, secret = create_webhook(inside, receiver.url, types=["ticket.created"])
    assert secret.startswith("whsec_")
    created = inside.ticket("Zażółć")
    ticket = created["id"]
    wait_for_requests(receiver, 1)
    (got,) = receiver.got
    (event,) = ok(inside.api.get("/events", params={"types": "ticket.created"}))["items"]
    assert got.verify(secret) == {
        "type": "ticket.created",
        "timestamp": event["at"],
        "data": {**event, "ticket_key": created["key"]},
    }
    assert got.headers["webhook-id"] == event["id"]
    assert got.headers["content-type"] == "application/json"
    assert event["ticket_id"] == ticket
    with pytest.raises(WebhookVerificationError):
        got._replace(body=got.body + b" ").verify(secret)
    with pytest.raises(WebhookVerificationError):
        got.verify(create_webhook(inside, receiver.url)[1])
    eventually(lambda: list_deliveries(inside, webhook)[0]["state"] == "delivered")
    (deliveries,) = list_deliveries(inside, webhook)
    assert (deliveries["event_id"], deliveries["status"], deliveries["attempts"], deliveries["error"]) == (
        event["id"],
        204,
        1,
        None,
    )


def test_new_webhook_receives_its_creation_and_nothing_before(inside: World, receiver: Receiver) -> None:
    inside.ticket("Before")
    webhook, _ = create_webhook(inside, receiver.url)
    wait_for_requests(receiver, 1)
    assert receiver.got[0].event["type"] == "webhook.created"
    assert receiver.got[0].event["data"]["webhook_id"] == webhook
    assert receiver.url not in receiver.got[0].body.decode()  # an address may be a secret


def test_webhook_receives_only_its_company_and_types_and_never_tokens(inside: World, receiver: Receiver) -> None:
    stranger = World(inside.box, "Zoe")
    webhook, _ = create_webhook(inside, receiver.url, types=["ticket.archived", "token.created", "token.revoked"])
    stranger.ticket()
    ticket = inside.ticket()["id"]
    inside.owner.token("read", company_id=inside.company)
    ok(stranger.api.post(f"/tickets/{stranger.ticket()['id']}/archive"))
    ok(inside.api.post(f"/tickets/{ticket}/archive"))
    wait_for_requests(receiver, 1)
    assert (
        len(list_deliveries(inside, webhook)) == 1
    )  # events become deliveries in order, so nothing earlier is still to come
    assert receiver.types() == ["ticket.archived"]
    assert receiver.of(ticket) == ["ticket.archived"]


def test_secret_is_shown_once_and_the_url_only_to_admins(inside: World, receiver: Receiver) -> None:
    webhook, secret = create_webhook(inside, receiver.url)
    inside.ticket()
    said = json.dumps([get_webhook(inside, webhook), list_deliveries(inside, webhook), ok(inside.api.get("/events"))])
    audit = inside.owner.web.get(f"/companies/{inside.company}/audit").text
    assert secret not in said + audit + inside.box.log.read_text()
    assert secret.removeprefix("whsec_") not in said + audit
    assert receiver.url not in audit + json.dumps(ok(inside.api.get("/events")))


def test_failing_ticket_keeps_its_order_while_others_continue(inside: World, receiver: Receiver) -> None:
    stuck, free = inside.ticket("Stuck")["id"], inside.ticket("Free")["id"]
    failing = True
    receiver.answer = lambda got: 500 if failing and got.event["ticket_id"] == stuck else 200
    webhook, _ = create_webhook(inside, receiver.url, types=["comment.created", "ticket.updated", "ticket.archived"])
    for ticket in (stuck, free):
        ok(inside.api.post(f"/tickets/{ticket}/comments", json={"body": "One"}))
        ok(inside.api.patch(f"/tickets/{ticket}", json={"title": "Two"}))
        ok(inside.api.post(f"/tickets/{ticket}/archive"))
    order = ["comment.created", "ticket.updated", "ticket.archived"]
    eventually(lambda: receiver.of(free) == order)
    eventually(lambda: len(receiver.of(stuck)) >= 3)
    assert set(receiver.of(stuck)) == {"comment.created"}
    eventually(lambda: get_webhook(inside, webhook)["pending"] == 3)
    failing = False
    eventually(lambda: receiver.of(stuck)[-3:] == order)
    eventually(lambda: get_webhook(inside, webhook)["pending"] == 0)
    assert get_webhook(inside, webhook)["failing_since"] is None
    ids = {got.headers["webhook-id"] for got in receiver.got if got.event["type"] == "comment.created"}
    assert len(ids) == 2  # an attempt after another has the same id


@pytest.mark.parametrize("status", [301, 302, 307, 308, 400, 401, 404, 500, 503])
def test_unsuccessful_status_is_retried_and_redirects_are_not_followed(
    inside: World, receiver: Receiver, status: int
) -> None:
    receiver.answer = lambda _: status if len(receiver.got) < 3 else 202
    webhook, _ = create_webhook(inside, receiver.url, types=["ticket.created"])
    inside.ticket()
    eventually(lambda: list_deliveries(inside, webhook) and list_deliveries(inside, webhook)[0]["state"] == "delivered")
    assert [got.path for got in receiver.got] == ["/hook"] * 3
    assert list_deliveries(inside, webhook)[0]["attempts"] == 3


@pytest.mark.long
def test_slow_or_unreachable_receiver_blocks_nobody(inside: World, receiver: Receiver) -> None:
    released = threading.Event()
    receiver.answer = lambda _: 200 if released.wait(60) else 500
    slow, _ = create_webhook(inside, receiver.url, types=["ticket.created"])
    nobody, _ = create_webhook(inside, "http://127.0.0.1:9/", types=["ticket.created"])
    with run_receiver() as other:
        create_webhook(inside, other.url, types=["ticket.created"])
        started = time.monotonic()
        for _ in range(8):
            inside.ticket()
        wait_for_requests(other, 8)
        assert time.monotonic() - started < 40  # eight times 8 s, if it waited for the slow one
    eventually(lambda: "didn't answer within 8 s" in str(list_deliveries(inside, slow)))
    released.set()
    eventually(lambda: "can't be connected to" in str(list_deliveries(inside, nobody)))
    eventually(lambda: get_webhook(inside, nobody)["failing_since"])


def test_receiver_that_answers_410_is_disabled_with_the_reason(inside: World, receiver: Receiver) -> None:
    receiver.answer = lambda _: 410
    webhook, _ = create_webhook(inside, receiver.url, types=["ticket.created"])
    inside.ticket()
    eventually(lambda: not get_webhook(inside, webhook)["enabled"])
    assert "410" in get_webhook(inside, webhook)["disabled_reason"]
    with run_receiver() as other:
        create_webhook(inside, other.url, types=["ticket.created"])
        inside.ticket()
        wait_for_requests(other, 1)
    assert len(receiver.got) == 1
    assert [each["state"] for each in list_deliveries(inside, webhook)] == ["dead"]


def test_disable_enable_and_replay(inside: World, receiver: Receiver) -> None:
    receiver.answer = lambda _: 500
    webhook, secret = create_webhook(inside, receiver.url, types=["ticket.created"])
    inside.ticket("While it fails")
    wait_for_requests(receiver, 1)
    off = ok(inside.owner.web.patch(f"/webhooks/{webhook}", json={"enabled": False}))
    assert (off["enabled"], off["disabled_reason"], off["pending"]) == (False, "Ann disabled it", 0)
    inside.ticket("While it is off")
    (dead,) = list_deliveries(inside, webhook)
    assert dead["state"] == "dead"
    expect_error(inside.owner.web.post(f"/deliveries/{dead['id']}/replay"), 409, "conflict")
    receiver.answer = lambda _: 200
    on = ok(inside.owner.web.patch(f"/webhooks/{webhook}", json={"enabled": True}))
    assert (on["enabled"], on["disabled_reason"]) == (True, None)
    before = len(receiver.got)
    inside.ticket("Afterwards")
    again = ok(inside.owner.web.post(f"/deliveries/{dead['id']}/replay"))
    wait_for_requests(receiver, before + 2)
    eventually(lambda: {each["state"] for each in list_deliveries(inside, webhook)[1:]} == {"delivered"})
    assert again["event_id"] == dead["event_id"]
    assert receiver.got[-1].verify(secret)
    ids = {got.headers["webhook-id"] for got in receiver.got[before:]}
    assert dead["event_id"] in ids
    assert len(list_deliveries(inside, webhook)) == 3  # events while it was disabled are not delivered


def test_changed_types_url_and_format_apply_from_then_on(inside: World, receiver: Receiver) -> None:
    webhook, _ = create_webhook(inside, "http://127.0.0.1:9/", types=["ticket.archived"])
    given = {"url": receiver.url, "types": None, "format": "slack", "name": "<script>alert(1)</script>"}
    changed = ok(inside.owner.web.patch(f"/webhooks/{webhook}", json=given))
    assert {name: changed[name] for name in given} == given
    key = inside.ticket("A & B <script> | *bold*")["key"]
    eventually(lambda: any(b"filed" in got.body for got in receiver.got))
    text = json.loads(next(got.body for got in receiver.got if b"filed" in got.body))["text"]
    assert text.startswith(f"Ann (a token, via rest) filed <{inside.box.url}/tickets/t-")
    assert text.endswith(f"|{key} A &amp; B &lt;script&gt; ¦ *bold*>")


def test_discord_message_mentions_nobody(inside: World, receiver: Receiver) -> None:
    create_webhook(inside, receiver.url, types=["comment.created"], format="discord")
    made = inside.ticket("@everyone **look** [here](https://evil.example)")
    ok(inside.api.post(f"/tickets/{made['id']}/comments", json={"body": "x"}))
    wait_for_requests(receiver, 1)
    output = json.loads(receiver.got[0].body)
    assert output["allowed_mentions"] == {"parse": []}
    name = f"{made['key']} @everyone **look** [here](https://evil.example)"
    for letter in "*@[]():-":
        name = name.replace(letter, "\\" + letter)
    assert output["content"] == (f"Ann \\(a token, via rest\\) commented on [{name}](<{made['url']}>)")


@pytest.mark.parametrize(
    "url",
    [
        "http://hooks.example/", "https://127.0.0.1/", "https://10.0.0.1/", "https://169.254.169.254/latest",
        "https://[::1]/", "https://[::ffff:10.0.0.1]/", "https://[64:ff9b::a00:1]/", "https://[fe80::1]/",
        "https://[fd00::1]/", "https://100.64.0.1/", "https://0.0.0.0/", "https://user:pw@hooks.example/",
        "https://hooks.example/#x", "https://hooks.example:99999/", "https:///nowhere", "ftp://hooks.example/",
        "javascript:alert(1)", "https://hooks.example/\n", "https://hooks.example/ x", "https://[::1", "",
    ],
)  # fmt: skip
def test_invalid_url_is_rejected(world: World, url: str) -> None:
    path = f"/companies/{world.company}/webhooks"
    problem = expect_error(world.owner.web.post(path, json={"name": "Hook", "url": url}), 400, "invalid_request")
    assert problem["errors"][0]["field"] == "url"


@pytest.mark.parametrize("host", ["localhost", "127.1", "2130706433", "0x7f000001", "127.0.0.1.invalid"])
def test_name_that_resolves_to_a_private_address_is_not_connected(world: World, host: str, receiver: Receiver) -> None:
    webhook, _ = create_webhook(world, f"https://{host}:{receiver.server_port}/", types=["ticket.created"])
    world.ticket()
    eventually(lambda: list_deliveries(world, webhook) and list_deliveries(world, webhook)[0]["error"])
    error = list_deliveries(world, webhook)[0]["error"]
    assert error in {"its address isn't one of the public internet's", "its name can't be resolved"}
    assert receiver.got == []


@pytest.mark.parametrize("name", ["", "a\nb", "a\x00b", "x" * 101, "   "])
def test_invalid_name_is_rejected(world: World, name: str) -> None:
    path = f"/companies/{world.company}/webhooks"
    given = {"name": name, "url": "https://hooks.example/"}
    expect_error(world.owner.web.post(path, json=given), 400, "invalid_request")


def test_number_of_webhooks_is_bounded(world: World) -> None:
    for _ in range(20):
        create_webhook(world, "https://hooks.example.invalid/", types=["member.invited"])
    path = f"/companies/{world.company}/webhooks"
    given = {"name": "One more", "url": "https://hooks.example/"}
    expect_error(world.owner.web.post(path, json=given), 409, "conflict")


def test_deleted_webhook_receives_nothing_more(inside: World, receiver: Receiver) -> None:
    webhook, _ = create_webhook(inside, receiver.url, types=["ticket.created"])
    inside.ticket()
    wait_for_requests(receiver, 1)
    ok(inside.owner.web.delete(f"/webhooks/{webhook}"))
    with run_receiver() as other:
        create_webhook(inside, other.url, types=["ticket.created"])
        inside.ticket()
        wait_for_requests(other, 1)
    assert len(receiver.got) == 1
    expect_error(inside.owner.web.get(f"/webhooks/{webhook}/deliveries"), 404, "not_found")


def test_after_rotation_both_secrets_verify_for_a_day(inside: World, receiver: Receiver) -> None:
    webhook, old = create_webhook(inside, receiver.url, types=["ticket.created"])
    rotated = ok(inside.owner.web.post(f"/webhooks/{webhook}/rotate"))
    new = rotated["secret"]
    assert new != old
    assert get_webhook(inside, webhook)["old_secret_until"] == rotated["webhook"]["old_secret_until"]
    inside.ticket()
    wait_for_requests(receiver, 1)
    assert receiver.got[0].verify(new) == receiver.got[0].verify(old)
    assert len(receiver.got[0].headers["webhook-signature"].split(" ")) == 2
    with contextlib.closing(sqlite3.connect(inside.box.db)) as connection, connection:
        connection.execute("UPDATE webhook SET old_until = 1 WHERE public_id = ?", (webhook,))
    inside.ticket()
    wait_for_requests(receiver, 2)
    assert receiver.got[1].verify(new)
    with pytest.raises(WebhookVerificationError):
        receiver.got[1].verify(old)
    assert get_webhook(inside, webhook)["old_secret_until"] is None


def test_second_rotation_invalidates_the_first_secret(inside: World, receiver: Receiver) -> None:
    webhook, first = create_webhook(inside, receiver.url, types=["ticket.created"])
    second, third = (ok(inside.owner.web.post(f"/webhooks/{webhook}/rotate"))["secret"] for _ in range(2))
    inside.ticket()
    wait_for_requests(receiver, 1)
    assert receiver.got[0].verify(second) == receiver.got[0].verify(third)
    with pytest.raises(WebhookVerificationError):
        receiver.got[0].verify(first)
    audit = inside.owner.web.get(f"/companies/{inside.company}/audit").text
    assert audit.count('"fields":["secret"]') == 2
    assert not any(secret in audit for secret in (first, second, third))


def test_replay_is_sent_immediately(inside: World, receiver: Receiver) -> None:
    webhook, _ = create_webhook(inside, receiver.url, types=["ticket.created"])
    inside.ticket()
    wait_for_requests(receiver, 1)
    eventually(lambda: list_deliveries(inside, webhook)[0]["state"] == "delivered")
    time.sleep(0.5)  # nothing shows when the job has begun its rest of twenty seconds, which the replay must end
    started = time.monotonic()
    ok(inside.owner.web.post(f"/deliveries/{list_deliveries(inside, webhook)[0]['id']}/replay"))
    wait_for_requests(receiver, 2)
    assert time.monotonic() - started < 18


def test_every_attempt_is_in_the_log(inside: World, receiver: Receiver) -> None:
    answers = iter([500, 404, 200])
    receiver.answer = lambda _: next(answers)
    webhook, _ = create_webhook(inside, receiver.url, types=["ticket.created"])
    inside.ticket()
    eventually(lambda: list_deliveries(inside, webhook) and list_deliveries(inside, webhook)[0]["state"] == "delivered")
    delivery = list_deliveries(inside, webhook)[0]
    attempts = ok(inside.owner.web.get(f"/deliveries/{delivery['id']}/attempts"))["items"]
    assert [(each["status"], each["error"]) for each in attempts] == [
        (500, "the receiver returned 500"),
        (404, "the receiver returned 404"),
        (200, None),
    ]
    times = [each["at"] for each in attempts]
    assert times == sorted(times)
    assert times[-1] == delivery["last_attempt"]
    stranger = World(inside.box, "Zoe")
    expect_error(stranger.owner.web.get(f"/deliveries/{delivery['id']}/attempts"), 404, "not_found")


def test_log_is_paged(inside: World, receiver: Receiver) -> None:
    webhook, _ = create_webhook(inside, receiver.url, types=["ticket.created"])
    for _ in range(5):
        inside.ticket()
    wait_for_requests(receiver, 5)
    result: list[str] = []
    query: dict[str, Any] = {"limit": 2}
    while query.get("cursor", "") is not None:
        page = ok(inside.owner.web.get(f"/webhooks/{webhook}/deliveries", params=query))
        result += [each["event_id"] for each in page["items"]]
        query["cursor"] = page["next_cursor"]
    # A delivery that wasn't answered in time is repeated, but listed once.
    sent = {got.event["id"]: got.headers["webhook-id"] for got in receiver.got}
    assert result == [sent[event] for event in sorted(sent, reverse=True)]


@pytest.mark.long
def test_event_from_the_command_line_is_delivered(tmp_path: Path, receiver: Receiver) -> None:
    """Another process writes the event; the server finds it in the file, at the latest after twenty seconds."""
    with run_server(tmp_path, "--allow-private-addresses") as box:
        world = World(box)
        create_webhook(world, receiver.url, types=["ticket.created"])
        box.stop()
        box.start()
        world.api = box.client(world.owner.token("tickets:write"))
        world.ticket()
        wait_for_requests(receiver, 1)
