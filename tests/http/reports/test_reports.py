"""Reports of people without an account: keys, intake, limits and receipts (docs/use/reports.md)."""

import itertools
import json
import re
from typing import Any

import httpx
import pytest

from tests.support.operation_cases import capture_arguments, draw_address, update_row
from tests.support.pictures import png
from tests.support.server import World, expect_error, ok

SHOP = "https://shop.example"
AWS_KEY = "AKIA" + "IOSFODNN7QWERTYU"


class Reporter:
    """A stranger with a key of the world's project, and an address that nobody else has."""

    def __init__(self, world: World, kind: str = "script", **given: Any) -> None:
        self.world = world
        path = f"/projects/{world.project}/report-keys"
        origins = [SHOP] if kind == "script" else []
        made = world.owner.web.post(path, json={"kind": kind, "name": "Shop", "origins": origins, **given})
        self.key: dict[str, Any] = ok(made)
        self.address = draw_address()

    def send(self, key: str = "", origin: str | None = SHOP, parts: Any = None, **given: Any) -> httpx.Response:
        """Send a report as a page does; None leaves the Origin header out."""
        headers = {"X-Forwarded-For": self.address} | ({"Origin": origin} if origin else {})
        fields = {"title": "The cart stays empty", **given}
        files = [(name, (None, value)) for name, value in fields.items()] + (parts or [])
        url = f"{self.world.box.url}/api/v1/reports/{key or self.key['key']}"
        return httpx.post(url, files=files, headers=headers, timeout=60)

    def send_until_refused(self, *, from_one_address: bool) -> tuple[int, httpx.Response]:
        """Send reports until a limit refuses one; how many were accepted before, and the refusal."""
        for accepted in itertools.count():
            if not from_one_address:
                self.address = draw_address()
            answer = self.send()
            if answer.status_code == 429:
                return accepted, answer
            ok(answer)
        raise AssertionError

    def find_tickets(self) -> list[dict[str, Any]]:
        """The project's tickets with the label of reports."""
        query = {"project_id": self.world.project, "label": "external"}
        return ok(self.world.owner.web.get("/tickets", params=query))["items"]


def build_page_parts() -> list[tuple[str, tuple[str, bytes]]]:
    """What the script records on a page, with a secret in the console."""
    sent = capture_arguments("")
    page = {name: sent["capture"][name] for name in ("page", "health")}
    page["captured_at"] = "2026-11-21T09:30:00Z"
    entry = json.loads(sent["console"])[0] | {"args": [f"key {AWS_KEY}"]}
    streams = {name: sent[name] for name in ("network", "errors", "actions", "replay")}
    streams |= {"capture": json.dumps(page).encode(), "console": json.dumps([entry]).encode()}
    return [(name, ("part", data)) for name, data in streams.items()]


def test_report_becomes_a_redacted_ticket_with_its_capture_and_reporter(world: World) -> None:
    reporter = Reporter(world)
    answer = reporter.send(
        description=f"It says {AWS_KEY}", name="Ann", email="ann@example.org", parts=build_page_parts()
    )
    receipt = ok(answer)
    assert list(receipt) == ["url"]
    assert answer.headers["access-control-allow-origin"] == SHOP
    (ticket,) = reporter.find_tickets()
    detail = ok(world.api.get(f"/tickets/{ticket['id']}"))
    assert (detail["title"], detail["column"]) == ("The cart stays empty", "To do")
    assert AWS_KEY not in json.dumps(detail)
    assert detail["capture"]["page"]["url"] == "https://shop.example/cart"
    assert detail["created"]["token_label"] == "Shop (report)"
    console = ok(world.api.get(f"/captures/{detail['capture']['id']}/console"))
    assert "[redacted" in json.dumps(console)
    shown = ok(world.api.get(f"/tickets/{ticket['id']}/reporter"))
    assert (shown["name"], shown["email"], shown["key_id"]) == ("Ann", "ann@example.org", reporter.key["id"])
    expect_error(world.api.get(f"/tickets/{world.ticket()['id']}/reporter"), 404, "not_found")


def test_report_that_is_sent_again_with_its_id_is_stored_once(world: World) -> None:
    reporter, other = Reporter(world), Reporter(world)
    once = {"id": "4f8a0c1e3a77c44a519a580f1f3f4f7c", "description": "After I added the lamp."}
    files = [("attachments", ("shot.png", png()))]
    first = reporter.send(parts=[*build_page_parts(), *files], **once)
    again = reporter.send(parts=[*build_page_parts(), *files], **once)
    assert (first.status_code, again.status_code) == (201, 200)
    assert ok(first) == ok(again)
    assert len(reporter.find_tickets()) == 1
    # what isn't the same report is another one, and so is that of another key
    others = [reporter.send(**once), reporter.send(**{**once, "description": "Always."}), other.send(**once)]
    assert [each.status_code for each in others] == [201, 201, 201]
    assert len({ok(each)["url"] for each in (first, *others)}) == 4
    expect_error(reporter.send(id="1"), 400, "invalid_request")


def test_settings_say_whether_pictures_are_stored(world: World) -> None:
    for seconds, accepts in ((30, True), (0, False)):
        policy = {"capture_policy": {"replay": seconds}}
        ok(world.owner.web.patch(f"/projects/{world.project}", json=policy))
        address = f"{world.box.url}/api/v1/reports/{Reporter(world).key['key']}"
        assert ok(httpx.get(address, headers={"Origin": SHOP}))["accepts_pictures"] is accepts


def test_key_reports_and_can_do_nothing_else(world: World) -> None:
    reporter = Reporter(world)
    for headers in ({"Authorization": f"Bearer {reporter.key['key']}"}, {"Cookie": f"session={reporter.key['key']}"}):
        for path in ("/me", "/projects", "/tickets"):
            assert httpx.get(f"{world.box.url}/api/v1{path}", headers=headers).status_code == 401
    # nor can it choose anything about the ticket
    for name in ("project_id", "column_id", "ticket_id", "labels", "priority"):
        expect_error(reporter.send(**{name: "x"}), 400, "invalid_request")
    other = json.loads(dict(build_page_parts())["capture"][1]) | {"ticket_id": world.ticket()["id"]}
    expect_error(reporter.send(parts=[("capture", ("part", json.dumps(other).encode()))]), 400, "invalid_request")
    assert reporter.find_tickets() == []


def test_key_is_refused_elsewhere_and_once_it_is_off_rotated_long_ago_or_deleted(world: World) -> None:
    reporter = Reporter(world)
    for origin in ("https://evil.example", "https://shop.example.evil.example", "null", None):
        refused = reporter.send(origin=origin)
        expect_error(refused, 403, "forbidden")
        assert refused.headers.get("access-control-allow-origin") == origin  # the page may read why
        assert "access-control-allow-credentials" not in refused.headers
    path = f"/report-keys/{reporter.key['id']}"
    ok(world.owner.web.patch(path, json={"enabled": False}))
    refused = reporter.send()
    expect_error(refused, 404, "not_found")
    assert refused.headers["access-control-allow-origin"] == SHOP
    ok(world.owner.web.patch(path, json={"enabled": True}))
    rotated = ok(world.owner.web.post(f"{path}/rotate"))
    reporter.address = draw_address()
    ok(reporter.send())
    ok(reporter.send(rotated["key"]))
    update_row(world.box.db, "UPDATE report_key SET old_until = 1 WHERE public_id = ?", reporter.key["id"])
    expect_error(reporter.send(), 404, "not_found")
    ok(world.owner.web.delete(path))
    expect_error(reporter.send(rotated["key"]), 404, "not_found")
    assert len(reporter.find_tickets()) == 2


@pytest.mark.long
def test_hostile_key_fills_its_own_bucket_and_no_other(world: World) -> None:
    hostile, other = Reporter(world, per_minute=3), Reporter(world)
    accepted, refused = hostile.send_until_refused(from_one_address=False)
    assert int(refused.headers["retry-after"]) > 0
    assert refused.headers["access-control-allow-origin"] == SHOP
    ok(other.send())
    ok(world.api.post("/tickets", json={"project_id": world.project, "title": "Still fine"}))
    assert len(hostile.find_tickets()) == accepted + 1


@pytest.mark.long
def test_one_address_is_limited_before_it_uses_up_the_key(world: World) -> None:
    reporter = Reporter(world, per_minute=60)
    _, refused = reporter.send_until_refused(from_one_address=True)
    assert "from this address" in refused.json()["detail"]
    assert refused.headers["access-control-allow-origin"] == SHOP
    assert "retry-after" in refused.headers["access-control-expose-headers"]
    reporter.address = draw_address()
    ok(reporter.send())


@pytest.mark.long
def test_limit_of_a_day_refuses_until_midnight(world: World) -> None:
    reporter = Reporter(world, per_day=2)
    ok(reporter.send())
    ok(reporter.send())
    refused = reporter.send()
    expect_error(refused, 429, "rate_limited")
    assert 0 < int(refused.headers["retry-after"]) <= 86_400
    update_row(world.box.db, "UPDATE report_key SET day = day - 1 WHERE public_id = ?", reporter.key["id"])
    ok(reporter.send())


@pytest.mark.long
def test_large_and_automatic_reports_are_refused(world: World) -> None:
    reporter = Reporter(world)
    expect_error(reporter.send(website="https://spam.example"), 400, "invalid_request")
    large = [("attachments", ("a.bin", bytes(9 * 1024**2)))]
    expect_error(reporter.send(parts=large), 413, "payload_too_large")
    many = [("attachments", (f"{n}.png", png())) for n in range(6)]
    expect_error(reporter.send(parts=many), 400, "invalid_request")
    assert reporter.find_tickets() == []


def test_reports_notify_nobody(world: World) -> None:
    member = world.join("Bo")
    reporter = Reporter(world)
    for _ in range(5):
        ok(reporter.send(description="@Ann @Bo look", name="Bo", email=member.email, parts=build_page_parts()))
    for each in (world.owner, member):
        assert ok(each.web.get("/notifications"))["items"] == []
    # the same words of somebody with an account notify
    world.ticket(description="@Ann @Bo look")
    assert len(ok(member.web.get("/notifications"))["items"]) == 1


@pytest.mark.long
def test_key_stops_when_its_creator_leaves(world: World) -> None:
    reporter = Reporter(world)
    ok(reporter.send())
    update_row(world.box.db, "DELETE FROM member WHERE user_id = (SELECT id FROM user WHERE public_id = ?)",
               world.owner.id)  # fmt: skip
    expect_error(reporter.send(), 404, "not_found")


@pytest.mark.parametrize("kind", ["script", "link"])
def test_keys_are_checked_when_they_are_made(world: World, kind: str) -> None:
    path = f"/projects/{world.project}/report-keys"
    wrong = [{"origins": ["shop.example"]}, {"origins": ["https://shop.example/"]}, {"per_minute": 0},
             {"per_day": 90_000}, {"name": ""}]  # fmt: skip
    if kind == "script":
        wrong.append({"origins": []})
    for given in wrong:
        body = {"kind": kind, "name": "Shop", "origins": [SHOP], **given}
        expect_error(world.owner.web.post(path, json=body), 400, "invalid_request")


def test_project_has_at_most_20_report_keys(world: World) -> None:
    path, body = f"/projects/{world.project}/report-keys", {"kind": "link", "name": "Shop"}
    made = [ok(world.owner.web.post(path, json=body))["id"] for _ in range(20)]
    assert "20 report keys" in expect_error(world.owner.web.post(path, json=body), 409, "conflict")["detail"]
    ok(world.owner.web.delete(f"/report-keys/{made[0]}"))
    ok(world.owner.web.post(path, json=body))


def test_link_is_a_form_without_scripts_and_its_receipt_shows_the_state_only(world: World) -> None:
    reporter = Reporter(world, "link")
    address = reporter.key["url"]
    headers = {"X-Forwarded-For": reporter.address}
    page = httpx.get(address, headers=headers)
    assert page.status_code == 200
    assert "Report a problem" in page.text
    assert "<script" not in page.text
    fields = {"title": "No receipt came", "description": "Since <b>Monday</b>", "name": "", "email": "", "website": ""}
    files = [(name, (None, value)) for name, value in fields.items()]
    (made_once,) = re.findall('name="id" value="([^"]+)"', page.text)
    files.append(("id", (None, made_once)))
    sent, again = (
        httpx.post(address, files=[*files, ("attachments", ("shot.png", png()))], headers=headers) for _ in range(2)
    )
    assert (sent.status_code, again.status_code) == (303, 303)
    assert sent.headers["location"] == again.headers["location"]
    (ticket,) = reporter.find_tickets()
    assert [each["name"] for each in ok(world.api.get(f"/tickets/{ticket['id']}"))["attachments"]] == ["shot.png"]
    receipt = sent.headers["location"]
    assert "Received" in httpx.get(receipt, headers=headers).text
    change = {"title": "Internal words", "resolved": True}
    ok(world.api.patch(f"/tickets/{ticket['id']}", json=change))
    done = httpx.get(receipt, headers=headers).text
    assert "Done." in done
    assert "No receipt came" in done
    assert "Internal words" not in done
    # an empty title, a wrong link and another site's page
    empty = httpx.post(address, files=[("title", (None, " "))], headers=headers)
    assert empty.status_code == 400
    assert "Use 1 to 300 characters" in empty.text
    assert httpx.get(address + "x", headers=headers).status_code == 404
    assert httpx.post(address, files=files, headers={**headers, "Origin": "https://evil.example"}).status_code == 403
    ok(world.owner.web.patch(f"/report-keys/{reporter.key['id']}", json={"enabled": False}))
    assert httpx.get(address, headers=headers).status_code == 404
    assert httpx.post(address, files=files, headers=headers).status_code == 404
