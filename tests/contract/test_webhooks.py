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

from tests.box import Box, World, eventually, ok, refused, serving, set_up
from tests.fault.seed import Launched
from tests.receiver import Receiver, receiving

QUICK = """
from ticketbox.domain.events import retry_schedule as retries
from ticketbox.jobs import webhooks
retries.FIRST_MS = 100
webhooks.ANSWER_SECONDS = 1.5
from ticketbox.cli import main
main()
"""


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Box]:
    """A server that may tell this machine, tries again after 0.1 s, and waits 1.5 s for an answer."""
    db = set_up(tmp_path_factory.mktemp("quick"))
    flags = ["--allow-private-addresses", "--trusted-proxy", "127.0.0.1/32"]
    with Launched(QUICK, db, *flags) as running:
        yield running


@pytest.fixture
def inside(quick: Box) -> Iterator[World]:
    """A company on that server."""
    yield World(quick)
    quick.close_clients()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A receiver of the test's own."""
    with receiving() as running:
        yield running


def hook(world: World, url: str, **more: Any) -> tuple[str, str]:
    """The id and the secret of a new webhook."""
    made = ok(world.owner.web.post(f"/companies/{world.company}/webhooks", json={"name": "Hook", "url": url, **more}))
    return made["webhook"]["id"], made["secret"]


def shown(world: World, webhook: str) -> dict[str, Any]:
    """A webhook as the list shows it."""
    items = ok(world.owner.web.get(f"/companies/{world.company}/webhooks"))["items"]
    return next(each for each in items if each["id"] == webhook)


def log(world: World, webhook: str) -> list[dict[str, Any]]:
    """The deliveries, oldest first."""
    return ok(world.owner.web.get(f"/webhooks/{webhook}/deliveries"))["items"][::-1]


def gets(receiver: Receiver, count: int, seconds: float = 10.0) -> None:
    """Wait until so many requests came."""
    eventually(lambda: len(receiver.got) >= count, seconds)


def test_an_event_comes_signed_as_the_standard_says(inside: World, receiver: Receiver) -> None:
    webhook, secret = hook(inside, receiver.url, types=["ticket.created"])
    assert secret.startswith("whsec_")
    ticket = inside.ticket("Zażółć")["id"]
    gets(receiver, 1)
    (got,) = receiver.got
    (event,) = ok(inside.api.get("/events", params={"types": "ticket.created"}))["items"]
    assert got.verified(secret) == {"type": "ticket.created", "timestamp": event["at"], "data": event}
    assert got.headers["webhook-id"] == event["id"]
    assert got.headers["content-type"] == "application/json"
    assert event["ticket_id"] == ticket
    with pytest.raises(WebhookVerificationError):
        got._replace(body=got.body + b" ").verified(secret)
    with pytest.raises(WebhookVerificationError):
        got.verified(hook(inside, receiver.url)[1])
    eventually(lambda: log(inside, webhook)[0]["state"] == "delivered")
    (told,) = log(inside, webhook)
    assert (told["event_id"], told["status"], told["attempts"], told["error"]) == (event["id"], 204, 1, None)


def test_a_new_webhook_is_told_of_itself_and_of_nothing_before(inside: World, receiver: Receiver) -> None:
    inside.ticket("Before")
    webhook, _ = hook(inside, receiver.url)
    gets(receiver, 1)
    assert receiver.got[0].event["type"] == "webhook.created"
    assert receiver.got[0].event["data"]["webhook_id"] == webhook
    assert receiver.url not in receiver.got[0].body.decode()  # an address may be a secret


def test_only_its_company_and_its_types_are_told_and_tokens_never(inside: World, receiver: Receiver) -> None:
    stranger = World(inside.box, "Zoe")
    webhook, _ = hook(inside, receiver.url, types=["ticket.archived", "token.created", "token.revoked"])
    stranger.ticket()
    ticket = inside.ticket()["id"]
    inside.owner.token("read", company_id=inside.company)
    ok(stranger.api.post(f"/tickets/{stranger.ticket()['id']}/archive"))
    ok(inside.api.post(f"/tickets/{ticket}/archive"))
    gets(receiver, 1)
    assert len(log(inside, webhook)) == 1  # events become deliveries in order, so nothing earlier is still to come
    assert receiver.types() == ["ticket.archived"]
    assert receiver.of(ticket) == ["ticket.archived"]


def test_the_secret_is_shown_once_and_the_address_to_admins_alone(inside: World, receiver: Receiver) -> None:
    webhook, secret = hook(inside, receiver.url)
    inside.ticket()
    said = json.dumps([shown(inside, webhook), log(inside, webhook), ok(inside.api.get("/events"))])
    audit = inside.owner.web.get(f"/companies/{inside.company}/audit").text
    assert secret not in said + audit + inside.box.log.read_text()
    assert secret.removeprefix("whsec_") not in said + audit
    assert receiver.url not in audit + json.dumps(ok(inside.api.get("/events")))


def test_a_ticket_keeps_its_order_while_others_go_on(inside: World, receiver: Receiver) -> None:
    stuck, free = inside.ticket("Stuck")["id"], inside.ticket("Free")["id"]
    failing = True
    receiver.answer = lambda got: 500 if failing and got.event["ticket_id"] == stuck else 200
    webhook, _ = hook(inside, receiver.url, types=["comment.created", "ticket.updated", "ticket.archived"])
    for ticket in (stuck, free):
        ok(inside.api.post(f"/tickets/{ticket}/comments", json={"body": "One"}))
        ok(inside.api.patch(f"/tickets/{ticket}", json={"title": "Two"}))
        ok(inside.api.post(f"/tickets/{ticket}/archive"))
    order = ["comment.created", "ticket.updated", "ticket.archived"]
    eventually(lambda: receiver.of(free) == order)
    eventually(lambda: len(receiver.of(stuck)) >= 3)
    assert set(receiver.of(stuck)) == {"comment.created"}
    assert shown(inside, webhook)["pending"] == 3
    failing = False
    eventually(lambda: receiver.of(stuck)[-3:] == order)
    eventually(lambda: shown(inside, webhook)["pending"] == 0)
    assert shown(inside, webhook)["failing_since"] is None
    ids = {got.headers["webhook-id"] for got in receiver.got if got.event["type"] == "comment.created"}
    assert len(ids) == 2  # an attempt after another has the same id


@pytest.mark.parametrize("status", [301, 302, 307, 308, 400, 401, 404, 500, 503])
def test_whatever_isnt_a_success_is_tried_again_and_no_redirect_is_followed(
    inside: World, receiver: Receiver, status: int
) -> None:
    receiver.answer = lambda _: status if len(receiver.got) < 3 else 202
    webhook, _ = hook(inside, receiver.url, types=["ticket.created"])
    inside.ticket()
    eventually(lambda: log(inside, webhook) and log(inside, webhook)[0]["state"] == "delivered")
    assert [got.path for got in receiver.got] == ["/hook"] * 3
    assert log(inside, webhook)[0]["attempts"] == 3


def test_one_that_doesnt_answer_in_time_or_at_all_holds_up_nobody(inside: World, receiver: Receiver) -> None:
    released = threading.Event()
    receiver.answer = lambda _: 200 if released.wait(20) else 500
    slow, _ = hook(inside, receiver.url, types=["ticket.created"])
    nobody, _ = hook(inside, "http://127.0.0.1:9/", types=["ticket.created"])
    with receiving() as other:
        hook(inside, other.url, types=["ticket.created"])
        started = time.monotonic()
        for _ in range(8):
            inside.ticket()
        gets(other, 8)
        assert time.monotonic() - started < 3
    eventually(lambda: any(each["error"] for each in log(inside, slow)))
    released.set()
    assert "didn't answer within 1.5 s" in str(log(inside, slow))
    assert "can't be connected to" in str(log(inside, nobody))
    assert shown(inside, nobody)["failing_since"]


def test_one_that_is_gone_is_disabled_with_the_reason(inside: World, receiver: Receiver) -> None:
    receiver.answer = lambda _: 410
    webhook, _ = hook(inside, receiver.url, types=["ticket.created"])
    inside.ticket()
    eventually(lambda: not shown(inside, webhook)["enabled"])
    assert "410" in shown(inside, webhook)["disabled_reason"]
    with receiving() as other:
        hook(inside, other.url, types=["ticket.created"])
        inside.ticket()
        gets(other, 1)
    assert len(receiver.got) == 1
    assert [each["state"] for each in log(inside, webhook)] == ["dead"]


def test_disabling_and_enabling_and_a_replay(inside: World, receiver: Receiver) -> None:
    receiver.answer = lambda _: 500
    webhook, secret = hook(inside, receiver.url, types=["ticket.created"])
    inside.ticket("While it fails")
    gets(receiver, 1)
    off = ok(inside.owner.web.patch(f"/webhooks/{webhook}", json={"enabled": False}))
    assert (off["enabled"], off["disabled_reason"], off["pending"]) == (False, "Ann disabled it", 0)
    inside.ticket("While it is off")
    (dead,) = log(inside, webhook)
    assert dead["state"] == "dead"
    refused(inside.owner.web.post(f"/deliveries/{dead['id']}/replay"), 409, "conflict")
    receiver.answer = lambda _: 200
    on = ok(inside.owner.web.patch(f"/webhooks/{webhook}", json={"enabled": True}))
    assert (on["enabled"], on["disabled_reason"]) == (True, None)
    before = len(receiver.got)
    inside.ticket("Afterwards")
    again = ok(inside.owner.web.post(f"/deliveries/{dead['id']}/replay"))
    gets(receiver, before + 2)
    eventually(lambda: {each["state"] for each in log(inside, webhook)[1:]} == {"delivered"})
    assert again["event_id"] == dead["event_id"]
    assert receiver.got[-1].verified(secret)
    told = {got.headers["webhook-id"] for got in receiver.got[before:]}
    assert dead["event_id"] in told
    assert len(log(inside, webhook)) == 3  # what happened while it was off isn't told


def test_a_change_of_types_address_and_format_holds_from_then_on(inside: World, receiver: Receiver) -> None:
    webhook, _ = hook(inside, "http://127.0.0.1:9/", types=["ticket.archived"])
    given = {"url": receiver.url, "types": None, "format": "slack", "name": "<script>alert(1)</script>"}
    changed = ok(inside.owner.web.patch(f"/webhooks/{webhook}", json=given))
    assert {name: changed[name] for name in given} == given
    inside.ticket("A & B <script> | *bold*")
    eventually(lambda: any(b"filed" in got.body for got in receiver.got))
    text = json.loads(next(got.body for got in receiver.got if b"filed" in got.body))["text"]
    assert text.startswith(f"Ann (a token, via rest) filed <{inside.box.url}/tickets/t-")
    assert text.endswith(" A &amp; B &lt;script&gt; ¦ *bold*>")


def test_a_chat_of_discords_kind_gets_words_that_mention_nobody(inside: World, receiver: Receiver) -> None:
    hook(inside, receiver.url, types=["comment.created"], format="discord")
    ticket = inside.ticket("@everyone **look** [here](https://evil.example)")["id"]
    ok(inside.api.post(f"/tickets/{ticket}/comments", json={"body": "x"}))
    gets(receiver, 1)
    told = json.loads(receiver.got[0].body)
    assert told["allowed_mentions"] == {"parse": []}
    name = f"{ticket} @everyone **look** [here](https://evil.example)"
    for letter in "*@[]():-":
        name = name.replace(letter, "\\" + letter)
    assert told["content"] == (
        f"Ann \\(a token, via rest\\) commented on [{name}](<{inside.box.url}/tickets/{ticket}>)"
    )


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
def test_an_address_that_wont_do_is_refused(world: World, url: str) -> None:
    path = f"/companies/{world.company}/webhooks"
    problem = refused(world.owner.web.post(path, json={"name": "Hook", "url": url}), 400, "invalid_request")
    assert problem["errors"][0]["field"] == "url"


@pytest.mark.parametrize("host", ["localhost", "127.1", "2130706433", "0x7f000001", "127.0.0.1.invalid"])
def test_a_name_that_leads_inside_isnt_connected_to(world: World, host: str, receiver: Receiver) -> None:
    webhook, _ = hook(world, f"https://{host}:{receiver.server_port}/", types=["ticket.created"])
    world.ticket()
    eventually(lambda: log(world, webhook) and log(world, webhook)[0]["error"])
    error = log(world, webhook)[0]["error"]
    assert error in {"its address isn't one of the public internet's", "its name can't be resolved"}
    assert receiver.got == []


@pytest.mark.parametrize("name", ["", "a\nb", "a\x00b", "x" * 101, "   "])
def test_a_name_with_control_characters_or_without_letters_is_refused(world: World, name: str) -> None:
    path = f"/companies/{world.company}/webhooks"
    given = {"name": name, "url": "https://hooks.example/"}
    refused(world.owner.web.post(path, json=given), 400, "invalid_request")


def test_a_company_has_so_many_webhooks_and_no_more(world: World) -> None:
    for _ in range(20):
        hook(world, "https://hooks.example.invalid/", types=["member.invited"])
    path = f"/companies/{world.company}/webhooks"
    given = {"name": "One more", "url": "https://hooks.example/"}
    refused(world.owner.web.post(path, json=given), 409, "conflict")


def test_a_removed_webhook_is_told_nothing_more(inside: World, receiver: Receiver) -> None:
    webhook, _ = hook(inside, receiver.url, types=["ticket.created"])
    inside.ticket()
    gets(receiver, 1)
    ok(inside.owner.web.delete(f"/webhooks/{webhook}"))
    with receiving() as other:
        hook(inside, other.url, types=["ticket.created"])
        inside.ticket()
        gets(other, 1)
    assert len(receiver.got) == 1
    refused(inside.owner.web.get(f"/webhooks/{webhook}/deliveries"), 404, "not_found")


def test_after_a_rotation_both_secrets_verify_for_a_day_and_then_the_new_one_alone(
    inside: World, receiver: Receiver
) -> None:
    webhook, old = hook(inside, receiver.url, types=["ticket.created"])
    rotated = ok(inside.owner.web.post(f"/webhooks/{webhook}/rotate"))
    new = rotated["secret"]
    assert new != old
    assert shown(inside, webhook)["old_secret_until"] == rotated["webhook"]["old_secret_until"]
    inside.ticket()
    gets(receiver, 1)
    assert receiver.got[0].verified(new) == receiver.got[0].verified(old)
    assert len(receiver.got[0].headers["webhook-signature"].split(" ")) == 2
    with contextlib.closing(sqlite3.connect(inside.box.db)) as connection, connection:
        connection.execute("UPDATE webhook SET old_until = 1 WHERE public_id = ?", (webhook,))
    inside.ticket()
    gets(receiver, 2)
    assert receiver.got[1].verified(new)
    with pytest.raises(WebhookVerificationError):
        receiver.got[1].verified(old)
    assert shown(inside, webhook)["old_secret_until"] is None


def test_two_rotations_make_the_first_secret_worthless_at_once(inside: World, receiver: Receiver) -> None:
    webhook, first = hook(inside, receiver.url, types=["ticket.created"])
    second, third = (ok(inside.owner.web.post(f"/webhooks/{webhook}/rotate"))["secret"] for _ in range(2))
    inside.ticket()
    gets(receiver, 1)
    assert receiver.got[0].verified(second) == receiver.got[0].verified(third)
    with pytest.raises(WebhookVerificationError):
        receiver.got[0].verified(first)
    audit = inside.owner.web.get(f"/companies/{inside.company}/audit").text
    assert audit.count('"fields":["secret"]') == 2
    assert not any(secret in audit for secret in (first, second, third))


def test_a_replay_goes_at_once(inside: World, receiver: Receiver) -> None:
    webhook, _ = hook(inside, receiver.url, types=["ticket.created"])
    inside.ticket()
    gets(receiver, 1)
    eventually(lambda: log(inside, webhook)[0]["state"] == "delivered")
    time.sleep(0.5)  # nothing shows when the job has begun its rest of twenty seconds, which the replay must end
    started = time.monotonic()
    ok(inside.owner.web.post(f"/deliveries/{log(inside, webhook)[0]['id']}/replay"))
    gets(receiver, 2)
    assert time.monotonic() - started < 5


def test_every_attempt_stands_in_the_log(inside: World, receiver: Receiver) -> None:
    answers = iter([500, 404, 200])
    receiver.answer = lambda _: next(answers)
    webhook, _ = hook(inside, receiver.url, types=["ticket.created"])
    inside.ticket()
    eventually(lambda: log(inside, webhook) and log(inside, webhook)[0]["state"] == "delivered")
    delivery = log(inside, webhook)[0]
    attempts = ok(inside.owner.web.get(f"/deliveries/{delivery['id']}/attempts"))["items"]
    assert [(each["status"], each["error"]) for each in attempts] == [
        (500, "its receiver answered 500"),
        (404, "its receiver answered 404"),
        (200, None),
    ]
    times = [each["at"] for each in attempts]
    assert times == sorted(times)
    assert times[-1] == delivery["last_attempt"]
    stranger = World(inside.box, "Zoe")
    refused(stranger.owner.web.get(f"/deliveries/{delivery['id']}/attempts"), 404, "not_found")


def test_the_log_has_pages(inside: World, receiver: Receiver) -> None:
    webhook, _ = hook(inside, receiver.url, types=["ticket.created"])
    for _ in range(5):
        inside.ticket()
    gets(receiver, 5)
    found: list[str] = []
    query: dict[str, Any] = {"limit": 2}
    while query.get("cursor", "") is not None:
        page = ok(inside.owner.web.get(f"/webhooks/{webhook}/deliveries", params=query))
        found += [each["event_id"] for each in page["items"]]
        query["cursor"] = page["next_cursor"]
    assert found == [got.headers["webhook-id"] for got in sorted(receiver.got, key=lambda got: got.event["id"])][::-1]


def test_what_the_command_line_does_is_told_as_well(tmp_path: Path, receiver: Receiver) -> None:
    """Another process writes the event; the server finds it in the file, at the latest after twenty seconds."""
    with serving(tmp_path, "--allow-private-addresses") as box:
        world = World(box)
        hook(world, receiver.url, types=["ticket.created"])
        box.stop()
        box.start()
        world.api = box.client(world.owner.token("tickets:write"))
        world.ticket()
        gets(receiver, 1)
