"""A page with every kind of fault: recorded by a real browser, uploaded, and read back field by field."""

import copy
import hashlib
import json
from collections.abc import Callable, Iterator
from io import BytesIO
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest
from PIL import Image, ImageChops
from playwright.async_api import Page

from tests.e2e.sites.faulty_site import SLOW_SECONDS, FaultySite, PlantedSecrets
from tests.e2e.support.browser import Chromium
from tests.e2e.support.devtools_recorder import DevToolsRecorder, Json, Recording
from tests.e2e.support.uploads import build_parts, read_all_entries, read_stored_bytes, send_capture
from tests.support.server import Box, World, ok
from ticketbox.domain.core.clock import format_rfc3339

REMOVED_HEADERS = {"authorization", "cookie", "set-cookie"}
BLANKED_HEADERS = {"x-api-key", "x-shop-build"}
MARK = "[redacted]"


class SentCapture:
    """An uploaded recording, with what the server must have stored."""

    def __init__(
        self, world: World, shop: Recording, planted: PlantedSecrets, *, bodies: bool, compressed: bool
    ) -> None:
        given = {"capture_policy": {"bodies": "on" if bodies else "off", "extra_redactions": []}}
        ok(world.owner.web.patch(f"/projects/{world.project}", json=given))
        self.world, self.planted, self.bodies = world, planted, bodies
        self.recording = copy.deepcopy(shop)
        self.given = {"project_id": world.project, "priority": "high", "labels": ["shop"], "description": "It broke."}
        answer = send_capture(world.api, build_parts(self.recording, compressed=compressed, **self.given))
        assert answer.status_code == 201, answer.text
        self.receipt = answer.json()
        self.reader = world.owner.token("read")
        self.ticket_path = f"/tickets/{self.receipt['ticket_id']}"
        self.path = f"/captures/{self.receipt['capture_id']}"
        self.expected = {name: self._build_expected_stream(entries) for name, entries in self.recording.streams.items()}

    def _build_expected_stream(self, entries: list[Json]) -> list[Json]:
        """A stream as it must be stored: unchanged except for secrets and what the policy excludes."""
        entries = _map_strings(self._apply_policy(entries), self._redact)
        for entry in entries:
            entry["document"] = 0
            if "method" in entry:
                entry["redirects"] = []
            elif "args" in entry:
                entry["frames"] = []
            for side in ("request", "response"):
                if side in entry:
                    entry[side]["headers"] = {
                        name: MARK if name.lower() in BLANKED_HEADERS else value
                        for name, value in entry[side]["headers"].items()
                        if name.lower() not in REMOVED_HEADERS
                    }
        return entries

    def _apply_policy(self, entries: list[Json]) -> list[Json]:
        entries = copy.deepcopy(entries)
        for entry in entries:
            for side in ("request", "response"):
                if side in entry and entry[side]["body"] is not None and not self.bodies:
                    entry[side].update(body=None, omitted_reason="policy")
        return entries

    def _redact(self, text: str) -> str:
        # the shop's script contains its header as a literal, of which only the key remains
        text = text.replace(f"Bearer {self.planted.bearer}", MARK)
        for secret in self.planted.all:
            text = text.replace(secret, MARK)
        return text.replace("\0", "\ufffd")

    def count_expected_redactions(self) -> Json:
        """The expected counts of redactions, including those that the client reports."""
        headers = [
            name.lower()
            for entry in self.recording.network
            for side in ("request", "response")
            for name in entry[side]["headers"]
        ]
        lost = REMOVED_HEADERS | BLANKED_HEADERS
        # a redacted header counts once, whatever its value
        texts = [self._apply_policy(entries) for entries in self.recording.streams.values()]
        for entry in texts[1]:
            for side in ("request", "response"):
                remaining = {name: value for name, value in entry[side]["headers"].items() if name.lower() not in lost}
                entry[side]["headers"] = remaining
        text = json.dumps(texts)
        count, planted = text.count, self.planted
        before = self.recording.facts["redaction"]
        return {
            "headers": before["headers"] + sum(name in lost for name in headers),
            "query": before["query"] + count(planted.query_token) + count(planted.query_key),
            # the header in the shop's script matches both by its key and by its pattern
            "keys": before["keys"]
            + sum(map(count, (planted.password, planted.access_token, planted.api_key, planted.bearer))),
            "patterns": before["patterns"] + count(planted.jwt) + count(planted.bearer),
            "extra": before["extra"],
        }


def _map_strings(value: Any, change: Callable[[str], str]) -> Any:
    """Copy JSON with a function applied to every string."""
    match value:
        case str():
            return change(value)
        case list():
            return [_map_strings(each, change) for each in value]
        case dict():
            return {name: _map_strings(each, change) for name, each in value.items()}
        case _:
            return value


@pytest.fixture(scope="session", params=["bodies off, streams as gzip", "bodies on, streams plain"])
def sent_once(request: pytest.FixtureRequest, box: Box, shop: Recording, site: FaultySite) -> SentCapture:
    """The shop's recording, in a project that stores bodies and in one that doesn't. Tests only read it."""
    stores_bodies = request.param.startswith("bodies on")
    return SentCapture(World(box), shop, site.planted, bodies=stores_bodies, compressed=not stores_bodies)


@pytest.fixture
def sent(sent_once: SentCapture) -> Iterator[SentCapture]:
    """The same with a new client, because a server's clients are closed after each test."""
    world = sent_once.world
    world.api = world.box.client(sent_once.reader)
    yield sent_once
    world.box.close_clients()


@pytest.mark.long
def test_browser_reports_every_fault_of_the_page(shop: Recording, site: FaultySite) -> None:
    """The recording that the other tests upload is real and complete."""
    lines = {entry["args"][0]: entry for entry in shop.console}
    levels = [lines[text]["level"] for text in ("debugging", "cart total", "", "stock is low", "checkout failed")]
    assert levels == ["debug", "log", "info", "warn", "error"]
    assert lines["tick"]["repeat"] == 3
    assert lines["session of"]["args"][1] == site.planted.jwt
    assert "\0" in lines["a line\nof two, and \0 between"]["args"][0]

    assert {error["kind"] for error in shop.errors} == {"error", "unhandledrejection", "resource", "csp"}
    (thrown,) = (error for error in shop.errors if error["kind"] == "error")
    assert (thrown["name"], [frame["function"] for frame in thrown["frames"]]) == (
        "TypeError",
        ["total", "render", "tick"],
    )
    requests = {urlsplit(entry["url"]).path: entry for entry in shop.network}
    wanted = {"/api/cart": 200, "/api/login": 200, "/moved": 302, "/api/nothing": 404, "/api/broken": 500}
    assert {path: requests[path]["status"] for path in wanted} == wanted
    assert (requests["/nobody"]["status"], requests["/nobody"]["error"]) == (None, "net::ERR_CONNECTION_REFUSED")
    assert requests["/foreign.png"]["error"] == "csp"
    assert requests["/api/slow"]["duration_ms"] >= SLOW_SECONDS * 1000
    assert requests["/prices.json"]["from_cache"]
    assert site.planted.cookie in requests["/api/orders"]["request"]["headers"]["Cookie"]
    text = json.dumps(shop.streams)
    assert all(secret in text for secret in site.planted.all)


@pytest.mark.parametrize("stream", ["console", "network", "errors"])
def test_stream_is_returned_as_recorded(sent: SentCapture, stream: str) -> None:
    api = sent.world.api
    assert read_all_entries(api, f"{sent.path}/{stream}") == sent.expected[stream]
    whole = ok(api.get(f"{sent.path}/{stream}", params={"limit": 100}))
    assert whole["items"] == sent.expected[stream]
    assert whole["health"] == sent.recording.facts["health"][stream]
    assert whole["health_summary"] == "Console, network and errors were collected in full."


def test_streams_can_be_filtered(sent: SentCapture) -> None:
    def read_filtered(stream: str, **filters: Any) -> list[Json]:
        page = ok(sent.world.api.get(f"{sent.path}/{stream}", params={"limit": 100, **filters}))
        assert (page["matched"], page["total"]) == (len(page["items"]), len(sent.expected[stream]))
        return page["items"]

    console, network, errors = (sent.expected[name] for name in ("console", "network", "errors"))
    assert read_filtered("console", level="warn") == [line for line in console if line["level"] in ("warn", "error")]
    assert [line["args"] for line in read_filtered("console", contains="TICK")] == [["tick"]]
    failed = [entry for entry in network if entry["status"] is None or entry["status"] >= 400 or entry["error"]]
    assert read_filtered("network", failures_only="true") == failed
    assert len(failed) >= 5
    assert read_filtered("network", status="5xx") == [entry for entry in network if entry["status"] == 500]
    assert read_filtered("network", method="post") == [entry for entry in network if entry["method"] == "POST"]
    assert read_filtered("network", host="pictures.invalid") == [
        e for e in network if e["url"].startswith("http://pictures")
    ]
    assert read_filtered("errors", contains="charging") == [e for e in errors if e["kind"] == "unhandledrejection"]
    moment = network[0]["ts"] - 60_000
    assert read_filtered("errors", around=moment) == []


def test_single_request_is_returned_in_full(sent: SentCapture) -> None:
    for entry in sent.expected["network"]:
        assert ok(sent.world.api.get(f"{sent.path}/network/{entry['id']}")) == entry
    assert sent.world.api.get(f"{sent.path}/network/none").status_code == 404


def test_bodies_are_stored_only_if_the_project_allows_them(sent: SentCapture) -> None:
    requests = {
        urlsplit(entry["url"]).path: entry for entry in read_all_entries(sent.world.api, f"{sent.path}/network")
    }
    login, picture = requests["/api/login"], requests["/picture.bin"]
    assert (picture["response"]["body"], picture["response"]["omitted_reason"]) == (None, "binary")
    assert login["request"]["bytes"] > 0
    if sent.bodies:
        assert login["request"]["body"] == '{"user":"ann","password":"[redacted]","remember":true}'
        assert login["response"]["body"] == '{"user": "ann", "access_token": "[redacted]"}'
        assert requests["/api/broken"]["request"]["body"] == "a plain body"
        assert login["request"]["omitted_reason"] is None
    else:
        sides = [entry[side] for entry in requests.values() for side in ("request", "response")]
        assert [side["body"] for side in sides if side["body"] is not None] == []
        assert (login["request"]["omitted_reason"], login["response"]["omitted_reason"]) == ("policy", "policy")


def test_ticket_contains_the_capture(sent: SentCapture) -> None:
    ticket = ok(sent.world.api.get(sent.ticket_path))
    facts = sent.recording.facts
    assert (ticket["title"], ticket["source_url"]) == (facts["page"]["title"], facts["page"]["url"])
    assert {key: ticket[key] for key in sent.given} == sent.given
    assert ticket["column_id"] == sent.world.columns[0]
    assert sent.receipt["url"] == f"{sent.world.box.url}/tickets/{ticket['id']}"

    capture = ticket["capture"]
    assert (capture["id"], capture["ticket_id"]) == (sent.receipt["capture_id"], ticket["id"])
    assert {key: capture[key] for key in ("page", "environment", "health")} == {
        "page": facts["page"], "environment": {**facts["environment"], "release": None}, "health": facts["health"],
    }  # fmt: skip
    assert capture["captured_at"] == format_rfc3339(int(facts["captured_at"]))
    assert capture["redaction"] == sent.count_expected_redactions()
    assert capture["health_summary"] == "Console, network and errors were collected in full."
    network = sent.expected["network"]
    failed = sum(entry["status"] is None or entry["status"] >= 400 or bool(entry["error"]) for entry in network)
    counts = {name: len(entries) for name, entries in sent.expected.items()}
    assert capture["counts"] == {**counts, "failed_requests": failed, "actions": 0}
    assert [asset["id"] for asset in capture["assets"]] == [capture["screenshot"]["id"]]

    history = ok(sent.world.api.get(f"{sent.ticket_path}/history"))["items"]
    assert [event["type"] for event in history] == ["ticket.created", "capture.attached"]
    listed = ok(sent.world.api.get("/tickets", params={"project_id": sent.world.project}))["items"][0]["capture"]
    thrown = next(error for error in sent.expected["errors"] if error["kind"] == "error")
    assert listed == {
        **{key: capture[key] for key in ("id", "captured_at", "counts", "health_summary")},
        "screenshot_id": capture["screenshot"]["id"],
        "screenshot_version": 1,
        "main_error": {"name": thrown["name"], "count": 1},
        "external": False,
    }


@pytest.mark.parametrize("detail", ["summary", "full"])
def test_ticket_lists_failures_first(sent: SentCapture, detail: str) -> None:
    capture = ok(sent.world.api.get(sent.ticket_path, params={"detail": detail}))["capture"]
    for name, expected in sent.expected.items():
        part = capture[name]
        assert part["total"] == len(expected)
        assert part["omitted"] == len(expected) - len(part["items"])
        if part["omitted"] or part["shortened"]:
            assert part["next"] == f'get_{name}(capture_id="{capture["id"]}")'
        if detail == "full":
            assert part["omitted"] == 0
    assert capture["errors"]["items"] == sent.expected["errors"]
    shown = {entry["id"]: entry for entry in capture["network"]["items"]}
    for entry in sent.expected["network"]:
        if entry["status"] in (404, 500) or entry["error"]:
            assert shown[entry["id"]]["url"] == entry["url"]
    if detail == "full":
        assert capture["console"]["items"] == sent.expected["console"]
    assert len(json.dumps(capture)) < 40_000 or detail == "full"


def test_requests_can_be_exported_as_har(sent: SentCapture) -> None:
    answer = sent.world.api.get(f"{sent.path}/har")
    assert answer.headers["content-type"] == "application/json"
    assert f'filename="{sent.receipt["ticket_id"]}.har"' in answer.headers["content-disposition"]
    log = ok(answer)["log"]
    facts = sent.recording.facts
    assert (log["version"], log["creator"]["name"]) == ("1.2", "ticketbox")
    assert (log["pages"][0]["title"], log["pages"][0]["_url"]) == (facts["page"]["title"], facts["page"]["url"])
    entries = sorted(sent.expected["network"], key=lambda entry: entry["ts"])
    for result, entry in zip(log["entries"], entries, strict=True):
        request, response = entry["request"], entry["response"]
        assert result["startedDateTime"] == format_rfc3339(int(entry["ts"]))
        assert result["time"] == result["timings"]["wait"] == entry["duration_ms"]
        assert (result["_id"], result["_resourceType"]) == (entry["id"], entry["type"])
        assert (result["_fromCache"], result.get("_error")) == (entry["from_cache"], entry["error"])
        assert (result["request"]["method"], result["request"]["url"]) == (entry["method"], entry["url"])
        assert _to_pairs(result["request"]["headers"]) == list(request["headers"].items())
        assert _to_pairs(result["request"]["queryString"]) == parse_qsl(urlsplit(entry["url"]).query)
        assert result["request"].get("postData", {}).get("text") == request["body"]
        assert (result["response"]["status"], result["response"]["statusText"]) == (
            entry["status"] or 0,
            entry["status_text"],
        )
        assert _to_pairs(result["response"]["headers"]) == list(response["headers"].items())
        assert result["response"]["content"]["mimeType"] == (response["mime"] or "")
        assert result["response"]["content"].get("text") == response["body"]
        assert result["response"]["redirectURL"] == response["headers"].get("Location", "")


def _to_pairs(pairs: list[Json]) -> list[tuple[str, str]]:
    return [(pair["name"], pair["value"]) for pair in pairs]


def test_screenshot_is_returned_unchanged(sent: SentCapture) -> None:
    api, shot = sent.world.api, sent.recording.screenshot
    capture = ok(api.get(sent.ticket_path))["capture"]
    asset = ok(api.get(f"/assets/{capture['screenshot']['id']}"))
    assert asset == capture["screenshot"] == capture["assets"][0]
    assert {key: value for key, value in asset.items() if key not in ("id", "created")} == {
        "ticket_id": sent.receipt["ticket_id"],
        "capture_id": sent.receipt["capture_id"],
        "kind": "screenshot",
        "media_type": "image/png",
        "width": 900,
        "height": 600,
        "bytes": len(shot),
        "sha256": hashlib.sha256(shot).hexdigest(),
        "name": "screenshot.png",
    }
    for path in (f"/assets/{asset['id']}/content", f"{sent.ticket_path}/screenshot"):
        answer = api.get(path)
        assert answer.content == shot
        assert answer.headers["content-type"] == "image/png"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["content-disposition"] == 'inline; filename="screenshot.png"'
        assert answer.headers["etag"] == f'"{asset["sha256"]}"'
        again = api.get(path, headers={"If-None-Match": answer.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize(("max_side", "size"), [(300, (300, 200)), (899, (899, 599)), (900, (900, 600))])
def test_screenshot_is_scaled_to_max_side(world: World, shop: Recording, max_side: int, size: tuple[int, int]) -> None:
    receipt = ok(send_capture(world.api, build_parts(shop, project_id=world.project)))
    answer = world.api.get(f"/tickets/{receipt['ticket_id']}/screenshot", params={"max_side": max_side})
    small = _picture(answer)
    assert small.size == size
    assert answer.headers["content-type"] == f"image/{small.format.lower()}"  # type: ignore[union-attr]
    whole = Image.open(BytesIO(shop.screenshot)).convert("RGB")
    difference = ImageChops.difference(whole.resize(size), small.convert("RGB")).convert("L")
    assert sum(share * value for value, share in enumerate(difference.histogram())) / (size[0] * size[1]) < 4


def _picture(answer: httpx.Response) -> Image.Image:
    assert answer.status_code == 200, answer.text
    picture = Image.open(BytesIO(answer.content))
    picture.load()
    return picture


@pytest.mark.parametrize("form", ["jpeg", "webp"])
def test_every_screenshot_format_of_the_browser_is_accepted(
    chromium: Chromium, site: FaultySite, world: World, form: str
) -> None:
    async def collect(page: Page) -> Recording:
        recorder = await DevToolsRecorder.attach(page)
        await page.goto(f"{site.url}/closed")
        return await recorder.recording(form)

    shot = chromium.visit(collect, viewport={"width": 500, "height": 300}, device_scale_factor=2)
    assert shot.facts["environment"]["dpr"] == 2
    receipt = ok(send_capture(world.api, build_parts(shot, project_id=world.project)))
    asset = ok(world.api.get(f"/tickets/{receipt['ticket_id']}"))["capture"]["screenshot"]
    assert (asset["media_type"], asset["width"], asset["height"]) == (f"image/{form}", 1000, 600)
    assert asset["name"] == f"screenshot.{form}"
    assert world.api.get(f"/assets/{asset['id']}/content").content == shot.screenshot


def test_no_secret_is_stored_in_the_file(sent: SentCapture) -> None:
    haystacks = list(read_stored_bytes(sent.world.box.db))
    # the search works: it finds a compressed line, a compressed request and the text of a row
    for marker in ("stock is low", "/api/nothing", sent.receipt["capture_id"]):
        assert any(marker.encode() in haystack for haystack in haystacks), marker
    for secret in sent.planted.all:
        assert not any(secret.encode() in haystack for haystack in haystacks), secret
    assert sent.world.box.log.exists()
    log = sent.world.box.log.read_text()
    assert not [secret for secret in sent.planted.all if secret in log]


def test_no_response_contains_a_secret(sent: SentCapture) -> None:
    api = sent.world.api
    paths = [
        sent.ticket_path,
        f"{sent.ticket_path}?detail=full&include=capture,comments,history",
        f"{sent.ticket_path}/history",
        *(f"{sent.path}/{name}?limit=100" for name in ("console", "network", "errors")),
        f"{sent.path}/har",
    ]
    for path in paths:
        text = json.dumps(ok(api.get(path)))
        assert not [secret for secret in sent.planted.all if secret in text], path
    for secret in sent.planted.all:
        answer = ok(api.get(f"{sent.path}/network", params={"contains": secret}))
        assert (answer["matched"], answer["total"]) == (0, len(sent.recording.network))


def test_project_rules_redact_more_secrets(world: World, shop: Recording) -> None:
    rules = {"bodies": "on", "extra_redactions": ["text:naïve", "orders"]}
    ok(world.owner.web.patch(f"/projects/{world.project}", json={"capture_policy": rules}))
    receipt = ok(send_capture(world.api, build_parts(shop, project_id=world.project)))
    capture = ok(world.api.get(f"/tickets/{receipt['ticket_id']}"))["capture"]
    streams = {
        name: read_all_entries(world.api, f"/captures/{receipt['capture_id']}/{name}")
        for name in ("console", "network", "errors")
    }
    text = json.dumps(streams, ensure_ascii=False)
    sent_text = json.dumps(shop.streams, ensure_ascii=False)
    assert "naïve" in sent_text
    assert "naïve" not in text
    assert '{items: 2, note: \\"[redacted] ✓\\"}' in text
    assert '{\\"orders\\": [], \\"access_token\\": \\"[redacted]\\"}' in text
    assert capture["redaction"]["extra"] == 5 + sent_text.count("naïve")


def test_page_address_and_title_are_redacted(world: World, shop: Recording, site: FaultySite) -> None:
    secret = site.planted.query_token
    page = {
        "url": f"https://ann:{secret}@shop.example/cart?token={secret}&tab=1#access_token={secret}",
        "title": f"Cart (token={secret})",
        "referrer": f"https://login.example/?code={secret}",
    }
    blank = Recording({**shop.facts, "page": page}, [], [], [], shop.screenshot)
    receipt = ok(send_capture(world.api, build_parts(blank, project_id=world.project)))
    ticket = ok(world.api.get(f"/tickets/{receipt['ticket_id']}"))
    assert ticket["capture"]["page"] == {
        "url": "https://shop.example/cart?token=[redacted]&tab=1#access_token=[redacted]",
        "title": "Cart (token=[redacted])",
        "referrer": "https://login.example/?code=[redacted]",
    }
    assert (ticket["title"], ticket["source_url"]) == (
        "Cart (token=[redacted])",
        ticket["capture"]["page"]["url"],
    )
    assert secret not in json.dumps(ok(world.api.get(f"/tickets/{receipt['ticket_id']}/history")))
    assert not any(secret.encode() in haystack for haystack in read_stored_bytes(world.box.db))


@pytest.mark.parametrize(
    ("url", "title", "shown", "address"),
    [
        ("http://x/\0y\nz", " Two\nlines\0, \x1b[31mred ", "Two lines , [31mred", "http://x/yz"),
        ("http://x/y", "\0\t ", "http://x/y", "http://x/y"),
        ("", "", "Untitled page", None),
    ],
)
def test_page_title_becomes_one_plain_line(
    world: World, shop: Recording, url: str, title: str, shown: str, address: str | None
) -> None:
    facts = {**shop.facts, "page": {"url": url, "title": title, "referrer": "http://r/\0"}}
    receipt = ok(
        send_capture(world.api, build_parts(Recording(facts, [], [], [], shop.screenshot), project_id=world.project))
    )
    ticket = ok(world.api.get(f"/tickets/{receipt['ticket_id']}"))
    assert (ticket["title"], ticket["source_url"]) == (shown, address)
    assert ticket["capture"]["page"]["referrer"] == "http://r/"
    assert not set(json.dumps(ticket["capture"]["page"], ensure_ascii=False)) & set(map(chr, range(32)))
