"""No secret in the log, in events or in what a refusal says."""

import contextlib
import re
import sqlite3
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.seed import png
from tests.support.server import PASSWORD, Box, Person, World, ok, run_server, ticketbox
from ticketbox.domain.accounts.secrets import generate_secret
from ticketbox.domain.work.leases import hash_lease

SECRET = re.compile(r"(?:tok|lease)_[0-9A-Za-z]{10,}")
EVERY_TEXT = """
SELECT name, (SELECT group_concat(c.name) FROM pragma_table_info(t.name) c WHERE c.type = 'TEXT')
FROM pragma_table_list t WHERE t.schema = 'main' AND t.type = 'table' AND t.name NOT LIKE 'sqlite_%'
"""


def set_up(box: Box) -> list[str]:
    """Go through the set-up page; the answers' texts."""
    address = box.setup_address()
    form = {"email": "ann@example.org", "name": "Ann", "password": PASSWORD, "company": "Acme", "project": "Shop"}
    with httpx.Client(follow_redirects=False) as browser:
        answers = [
            browser.get(f"{address}x"),
            browser.get(address),
            browser.post(address, data={**form, "password": "short"}),
            browser.post(address, data=form, headers={"Sec-Fetch-Site": "same-origin"}),
            browser.get(address),
            browser.post(address, data=form),
        ]
    return [each.text for each in answers if each.status_code >= 400]


def mix(world: World) -> list[str]:
    """Calls of all sorts with secrets in every place where people put them; what the refusals say."""
    texts: list[str] = []
    owner, secret, wrong = world.owner, world.owner.token("tickets:write"), generate_secret()

    def keep(answer: httpx.Response) -> None:
        if not answer.is_success:
            texts.append(answer.text + str(answer.headers))

    places: list[Callable[[str], httpx.Response]] = [
        lambda text: owner.web.get("/me", params={"token": text}),
        lambda text: owner.web.get(f"/tickets/{text}"),
        lambda text: owner.web.get(f"/tickets/t-{text}"),
        lambda text: owner.web.get(f"/{text}"),
        lambda text: owner.web.get(f"/invitations/accept/{text}"),
        lambda text: owner.web.post(f"/invitations/accept/{text}", json={}),
        lambda text: httpx.get(f"{world.box.url}/setup/{text}"),
        lambda text: httpx.get(f"{world.box.url}/{text}/../../{text}"),
        lambda text: httpx.get(f"{world.box.api}/me", headers={"Authorization": f"Basic {text}"}),
        lambda text: httpx.get(f"{world.box.api}/me", headers={"Authorization": f"Bearer {text} {text}"}),
        lambda text: httpx.get(f"{world.box.api}/me", headers={"Cookie": f"{world.box.cookie}={text}x"}),
        lambda text: httpx.get(f"{world.box.api}/me", headers={"Host": f"{text}.example"}),
        lambda text: world.api.get("/tickets", params={"cursor": text}),
        lambda text: world.api.post("/tickets", json={"project_id": text, "title": "x"}),
        lambda text: world.api.post("/tickets", json={"project_id": world.project, "title": "x", text: 1}),
        lambda text: world.api.post("/tickets", json={"project_id": world.project, "title": "x", "priority": text}),
        lambda text: world.api.post("/tickets", content=text, headers={"Content-Type": text}),
        lambda text: world.api.post("/captures", files={text: ("x.png", png(1), "image/png")}),
        lambda text: world.api.patch("/tickets/t-aaaaaaaa", json={"title": "x"}, headers={"If-Match": text}),
        lambda text: world.api.request(text[:20], "/me"),
    ]
    for place in places:
        for text in (secret, wrong):
            with contextlib.suppress(httpx.HTTPError):
                keep(place(text))
    ok(world.api.get("/me"))
    ok(owner.web.get("/tokens"))
    keep(owner.web.post("/session", json={"email": owner.email, "password": secret}))
    keep_leases(world, keep)
    token = ok(owner.web.post("/tokens", json={"label": "by hand", "scopes": ["read"]}))
    ok(world.box.client(token["secret"]).get("/me"))
    ok(owner.web.delete(f"/tokens/{token['id']}"))
    keep(world.box.client(token["secret"]).get("/me"))
    given = {"role": "viewer"}
    invitation = ok(owner.web.post(f"/companies/{world.company}/invitations", json=given))["secret"]
    ok(owner.web.get(f"/invitations/accept/{invitation}"))
    ok(Person(world.box, "Bob").web.post(f"/invitations/accept/{invitation}", json={}))
    keep(owner.web.get(f"/invitations/accept/{invitation}"))
    return texts


def keep_leases(world: World, keep: Callable[[httpx.Response], None]) -> None:
    """Work on a ticket with its lease and with a wrong one, sent in every place."""
    path, wrong = f"/tickets/{world.ticket()['id']}/work", "lease_" + "0" * 32
    lease = ok(world.api.post(path, json={}, headers={"Idempotency-Key": "a key"}))["lease"]
    lease = ok(world.api.post(path, json={}, headers={"Idempotency-Key": "a key"}))["lease"]
    for text in (wrong, lease):
        keep(world.api.delete(path, params={"lease": text}))
        keep(world.api.get(f"/tickets/{text}"))
        keep(world.api.post(path, json={text: 1}))
        keep(world.api.post(path, json={"run": text + "\n"}))
        keep(world.api.post(path, json={"lease": text}))
        keep(world.api.delete(path, headers={"Lease": text}))
    keep(world.api.post(path, json={"lease": lease}))


def texts_of(db: Path) -> dict[str, list[Any]]:
    """Every text in the file."""
    with contextlib.closing(sqlite3.connect(db)) as connection:
        tables = {name: names for name, names in connection.execute(EVERY_TEXT) if names}
        return {name: connection.execute(f"SELECT {names} FROM {name}").fetchall() for name, names in tables.items()}


@pytest.mark.long
def test_export_contains_no_lease(tmp_path: Path) -> None:
    with run_server(tmp_path) as box:
        world = World(box)
        lease = ok(world.api.post(f"/tickets/{world.ticket()['id']}/work", json={}))["lease"]
        done = ticketbox("export", str(tmp_path / "all.zip"), db=box.db)
        assert done.returncode == 0, done.stderr
    hashed = hash_lease(lease)
    assert hashed in box.db.read_bytes()
    with zipfile.ZipFile(tmp_path / "all.zip") as archive:
        sessions = archive.read("records/work_session.ndjson")
        assert b"wrk_" in sessions
        for name in archive.namelist():
            data = archive.read(name)
            assert not any(form in data for form in (lease.encode(), hashed, hashed.hex().encode())), name


@pytest.mark.parametrize("form", ["text", pytest.param("json", marks=pytest.mark.long)])
def test_no_secret_in_the_log_the_file_or_an_error(tmp_path: Path, form: str) -> None:
    with Box(tmp_path / "ticketbox.db", "--log-format", form) as box:
        refusals = set_up(box)
        refusals += mix(World(box))
        assert box.stop() == 0
        log = box.log.read_text()
        assert log.count('"status":' if form == "json" else " status=") > 50
        assert SECRET.findall(log) == []
        assert PASSWORD not in log
        assert len(refusals) > 30
        assert [text for text in refusals if SECRET.search(text)] == []
        texts = texts_of(box.db)
        assert len(texts["event"]) > 5
        assert SECRET.findall(repr(texts)) == []


def test_secret_in_a_traceback_is_masked() -> None:
    import logging

    from ticketbox.logs import _Lines

    secret = generate_secret()
    try:
        raise ValueError(f"no such thing: {secret}")
    except ValueError as error:
        record = logging.LogRecord("x", logging.ERROR, "", 0, "failed: %s", (secret,), (ValueError, error, None))
    for as_json in (True, False):
        line = _Lines(as_json=as_json).format(record)
        assert "no such thing: tok_…" in line
        assert not SECRET.search(line)
