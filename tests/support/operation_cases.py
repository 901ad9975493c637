"""One valid call for every operation that has a REST route, and the way to send it.

`CASES` is the table that the matrix, the rate limits' and the schema's tests run over: a new operation needs
its line here.
"""

import contextlib
import copy
import functools
import itertools
import json
import re
import secrets
import sqlite3
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import httpx

from tests.support.oauth_app import connect_app
from tests.support.passkey_device import PasskeyDevice
from tests.support.pictures import png
from tests.support.server import PASSWORD, Box, Person, World, ok
from tests.support.source_maps import build_source_map
from ticketbox.domain.accounts import totp
from ticketbox.domain.accounts.passkeys import encode_base64url
from ticketbox.domain.accounts.secrets import hash_secret
from ticketbox.domain.core.access.scopes import Role
from ticketbox.http.header_arguments import list_header_arguments
from ticketbox.operations.catalogue import load_registry
from ticketbox.operations.core.registry import Body, Operation, Route
from ticketbox.store.file.connection import add_functions

Arguments = dict[str, Any]

WRITING = ("tickets:write", "tickets:assign")

_numbers = itertools.count(1)


class Case(NamedTuple):
    """How to make valid arguments in a world, the least role that may call, and who else but the owner calls."""

    arguments: Callable[[World], Arguments] = lambda _: {}
    least: Role = Role.VIEWER
    caller: Callable[[World], Person] | None = None


def make_capture(world: World, project: str | None = None, **envelope: Any) -> dict[str, Any]:
    """A stored capture with a screenshot, and one entry in each stream."""
    return ok(world.api.post("/captures", files=build_parts(capture_arguments(project or world.project, **envelope))))


REPLAY: list[dict[str, Any]] = [
    {"type": 4, "timestamp": 1_795_253_390_000,
     "data": {"href": "https://shop.example/cart", "width": 800, "height": 600}},
    {"type": 2, "timestamp": 1_795_253_390_001, "data": {"initialOffset": {"left": 0, "top": 0}, "node": {
        "type": 0, "id": 1, "childNodes": [
            {"type": 1, "id": 2, "name": "html", "publicId": "", "systemId": ""},
            {"type": 2, "id": 3, "tagName": "html", "attributes": {}, "childNodes": [
                {"type": 2, "id": 4, "tagName": "body", "attributes": {}, "childNodes": [
                    {"type": 2, "id": 5, "tagName": "h1", "attributes": {}, "childNodes": [
                        {"type": 3, "id": 6, "textContent": "Cart"}]}]}]}]}}},
    {"type": 3, "timestamp": 1_795_253_399_000, "data": {"source": 0, "attributes": [], "removes": [], "adds": [],
     "texts": [{"id": 6, "value": "Cart (empty)"}]}},
]  # fmt: skip


def capture_arguments(project: str, **envelope: Any) -> Arguments:
    """The parts of a capture as an extension sends them."""
    whole = {"status": "ok", "captured": 1}
    capture = {
        "id": secrets.token_hex(12),
        "project_id": project,
        "page": {"url": "https://shop.example/cart", "title": "Cart"},
        "captured_at": 1_795_253_400_000,
        "health": {"console": whole, "network": whole, "errors": whole, "actions": whole, "replay": whole},
        **envelope,
    }
    entry = {"ts": 1_795_253_399_000.5}
    click = {"kind": "click", "target": {"role": "button", "name": "Pay"}}
    request = {"id": "r1", "method": "GET", "url": "https://shop.example/api/cart", "type": "fetch"}
    return {
        "capture": {name: value for name, value in capture.items() if value is not None},
        "screenshot": png(),
        "console": json.dumps([{**entry, "seq": 1, "level": "warn", "args": ["cart is empty"]}]).encode(),
        "network": json.dumps([{**entry, **request, "status": 500, "duration_ms": 12.5}]).encode(),
        "errors": json.dumps([{**entry, "seq": 2, "kind": "error", "message": "no cart"}]).encode(),
        "actions": json.dumps([{**entry, **click, "seq": 3}]).encode(),
        "replay": json.dumps(REPLAY).encode(),
    }


def create_spare_column(world: World, project: str | None = None) -> str:
    """A column that nobody needs."""
    path = f"/projects/{project or world.project}/columns"
    return ok(world.owner.web.post(path, json={"name": f"Column {next(_numbers)}"}))["id"]


def create_spare_label(world: World) -> str:
    """A label that nobody needs."""
    path = f"/companies/{world.company}/labels"
    return ok(world.owner.web.post(path, json={"name": f"spare {next(_numbers)}"}))["id"]


def create_spare_source_map(world: World, project: str | None = None) -> str:
    """A source map that nobody needs."""
    path = f"/projects/{project or world.project}/source-maps"
    name = f"spare-{next(_numbers)}.js.map"
    return ok(world.api.post(path, files={"file": (name, build_source_map())}))["id"]


def create_spare_view(world: World, project: str | None = None) -> str:
    """A shared view that nobody needs. Earlier ones are deleted to stay below the limit."""
    path = f"/projects/{project or world.project}/views"
    listed = ok(world.owner.web.get("/views", params={"project_id": project or world.project}))["items"]
    for each in listed[10:]:
        ok(world.owner.web.delete(f"/views/{each['id']}"))
    return ok(world.owner.web.post(path, json={"name": "Spare", "shared": True}))["id"]


def create_spare_session(world: World) -> str:
    """A second session of the owner's."""
    web = world.box.client()
    return ok(web.post("/session", json={"email": world.owner.email, "password": PASSWORD}))["session_id"]


def create_spare_token(world: World) -> str:
    """The public id of a token of the owner's."""
    return ok(world.owner.web.post("/tokens", json={"label": "Spare", "scopes": ["read"]}))["id"]


def create_invitation(world: World, **given: Any) -> dict[str, Any]:
    """An open invitation."""
    return ok(world.owner.web.post(f"/companies/{world.company}/invitations", json=given))


def create_comment(world: World, ticket: str | None = None) -> str:
    """The id of a comment of the owner's, made with the world's own token."""
    path = f"/tickets/{ticket or world.ticket()['id']}/comments"
    return ok(world.api.post(path, json={"body": "A comment"}))["id"]


def create_expectation(world: World, capture: str | None = None) -> str:
    """The id of an expectation that the world's own token proposed."""
    path = f"/captures/{capture or make_capture(world)['capture_id']}/expectations"
    return ok(world.api.post(path, json=EXPECTATION))["id"]


def create_webhook(world: World) -> str:
    """The id of a webhook that receives nothing of what tests do; it is deleted afterwards to stay below the limit."""
    path = f"/companies/{world.company}/webhooks"
    for each in ok(world.owner.web.get(path))["items"][10:]:
        ok(world.owner.web.delete(f"/webhooks/{each['id']}"))
    given = {"name": "Hook", "url": "https://198.51.100.9.invalid/", "types": ["project.removed"]}
    return ok(world.owner.web.post(path, json=given))["webhook"]["id"]


def create_report_key(world: World, project: str | None = None) -> dict[str, Any]:
    """A report key; earlier ones are deleted to stay below the limit."""
    path = f"/projects/{project or world.project}/report-keys"
    for each in ok(world.owner.web.get(path))["items"][10:]:
        ok(world.owner.web.delete(f"/report-keys/{each['id']}"))
    return ok(world.owner.web.post(path, json={"kind": "link", "name": "Shop"}))


def create_lasting_key(world: World) -> str:
    """The text of a report key that no other one replaces."""
    return create_report_key(world, world.new_project("For reports"))["key"]


def create_report(world: World, *, has_capture: bool = False) -> str:
    """The id of a ticket that somebody without an account reported."""
    key = create_report_key(world)["key"]
    files: list[tuple[str, tuple[str | None, str | bytes]]] = [
        ("title", (None, "No receipt came")),
        ("email", (None, "eve@stranger.example")),
    ]
    if has_capture:
        sent = capture_arguments("")
        page = {name: sent["capture"][name] for name in ("page", "health")}
        page["captured_at"] = "2026-11-21T09:30:00Z"
        files += [("capture", ("part", json.dumps(page))), ("errors", ("part", sent["errors"]))]
    headers = {"X-Forwarded-For": draw_address()}
    ok(httpx.post(f"{world.box.url}/api/v1/reports/{key}", files=files, headers=headers, timeout=60))
    query = {"project_id": world.project, "label": "external"}
    return ok(world.api.get("/tickets", params=query))["items"][0]["id"]


def create_external_capture(world: World) -> dict[str, Any]:
    """A capture that somebody without an account sent, as its ticket shows it."""
    return ok(world.api.get(f"/tickets/{create_report(world, has_capture=True)}"))["capture"]


def create_git_hook(world: World) -> str:
    """The id of a git hook; earlier ones are deleted to stay below the limit."""
    path = f"/projects/{world.project}/git-hooks"
    for each in ok(world.owner.web.get(path))["items"][10:]:
        ok(world.owner.web.delete(f"/git-hooks/{each['id']}"))
    return ok(world.owner.web.post(path, json={"name": "shop/web"}))["git_hook"]["id"]


def insert_delivery(world: World) -> str:
    """The id of a delivery that was made."""
    hook = create_webhook(world)
    public_id = f"dlv_{next(_numbers):012}"
    update_row(
        world.box.db,
        "INSERT INTO delivery (public_id, webhook_id, event_id, lane, state, attempts, last_at, created_at)"
        " SELECT ?, w.id, e.id, 0, 'delivered', 1, e.at, e.at FROM webhook w, (SELECT * FROM event LIMIT 1) e"
        " WHERE w.public_id = ?",
        public_id,
        hook,
    )
    return public_id


def insert_notification(world: World) -> str:
    """The id of a notification of the owner's."""
    public_id = f"ntf_{next(_numbers):012}"
    ticket = world.ticket()["id"]
    update_row(
        world.box.db,
        "INSERT INTO notification (public_id, user_id, event_id, ticket_id, reason, created_at, shown_at)"
        " SELECT ?, u.id, e.id, t.id, 'mention', e.at, e.at FROM user u, ticket t JOIN event e ON e.ticket_id = t.id"
        " WHERE u.public_id = ? AND t.public_id = ?",
        public_id,
        world.owner.id,
        ticket,
    )
    return public_id


def format_tomorrow() -> str:
    """The same time tomorrow, in RFC 3339."""
    return (datetime.now(UTC) + timedelta(days=1)).isoformat()


def start_work(world: World, project: str | None = None, by: Person | None = None) -> Arguments:
    """A ticket that a token works on, by default one of the owner's, and the lease."""
    token = (by or world.owner).client("tickets:write", company_id=world.company)
    ticket = world.ticket(project_id=project or world.project)["id"]
    return {"ticket_id": ticket, "lease": ok(token.post(f"/tickets/{ticket}/work", json={}))["lease"]}


def create_question(world: World, project: str | None = None, by: Person | None = None) -> dict[str, Any]:
    """An open question, with the arguments of its session."""
    work = start_work(world, project, by)
    given = {"lease": work["lease"], "question": "Which one?", "choices": ["The first", "The second"]}
    token = (by or world.owner).client("tickets:write", company_id=world.company)
    return {**work, **ok(token.post(f"/tickets/{work['ticket_id']}/work/questions", json=given))}


def request_approval(world: World, project: str | None = None) -> dict[str, Any]:
    """A work session whose agent asks a person to accept the ticket."""
    project = project or world.new_project("Gated")
    ok(world.owner.web.patch(f"/projects/{project}", json={"done_approval": True}))
    work = start_work(world, project)
    token = world.owner.client("tickets:write", company_id=world.company)
    given = {"lease": work["lease"], "resolved": True}
    asked = ok(token.post(f"/tickets/{work['ticket_id']}/work/finish", json=given))
    return {**work, "session_id": asked["claim"]["session_id"]}


def create_rows(world: World, project: str | None = None) -> dict[str, str]:
    """One row of each noun that an id can name, of one project."""
    project = project or world.project
    capture = make_capture(world, project)
    ticket = capture["ticket_id"]
    ok(world.api.put(f"/tickets/{ticket}/assignees/me"))
    question = create_question(world, project)
    return {
        "company": world.company,
        "project": project,
        "column": create_spare_column(world, project),
        "ticket": ticket,
        "comment": create_comment(world, ticket),
        "capture": capture["capture_id"],
        "expectation": create_expectation(world, capture["capture_id"]),
        "asset": screenshot_of(world, ticket),
        "user": world.owner.id,
        "token": create_spare_token(world),
        "app": connect_app(world),
        "session": create_spare_session(world),
        "invitation": create_invitation(world)["id"],
        "notification": insert_notification(world),
        "webhook": create_webhook(world),
        "git_hook": create_git_hook(world),
        "report_key": create_report_key(world)["id"],
        "delivery": insert_delivery(world),
        "question": question["id"],
        "work_session": question["session_id"],
        "criterion": create_criterion(world, ticket),
        "verification": ok(world.api.post(f"/tickets/{ticket}/verifications", json=VERIFICATION))["id"],
        "source_map": create_spare_source_map(world, project),
        "label": create_spare_label(world),
        "view": create_spare_view(world, project),
        "passkey": _create_spare_passkey(world),
    }


def screenshot_of(world: World, ticket: str) -> str:
    """The id of the asset that is a ticket's screenshot."""
    return ok(world.api.get(f"/tickets/{ticket}"))["capture"]["screenshot"]["id"]


class Stage(World):
    """A world with plenty of budget, a second project, and a member of each role who has a token and a session.

    Its tokens are pinned to the company, because an unpinned one gets the lowest of its companies' limits.
    """

    def __init__(self, box: Box) -> None:
        super().__init__(box)
        limits = {"reads_per_minute": 1_000_000, "writes_per_minute": 1_000_000}
        ok(self.owner.web.patch(f"/companies/{self.company}", json={"limits": limits}))
        self.token = self.owner.token(*WRITING, company_id=self.company)
        self.api = box.client(self.token)
        self.second = self.new_project("Second project")
        self.people = {role: self.join(role.label) for role in (Role.VIEWER, Role.MEMBER, Role.ADMIN)}
        self.tokens = {role: self.join_token(person) for role, person in self.people.items()}
        for role, person in self.people.items():
            path = f"/companies/{self.company}/members/{person.id}"
            ok(self.owner.web.patch(path, json={"role": role.label}))
        self.owner.web.event_hooks["response"].append(self._renew)
        self._arguments: dict[str, Arguments] = {}

    def _renew(self, answer: httpx.Response) -> None:
        """Sign the owner in again before the session's budget, which no company can raise, runs out."""
        left = re.search(r"r=(\d+)", answer.headers.get("RateLimit", ""))
        if left and int(left[1]) < 100:
            ok(self.owner.web.post("/session", json={"email": self.owner.email, "password": PASSWORD}))

    def join_token(self, person: Person) -> str:
        """A token of somebody else's, pinned to the company, with every scope."""
        return person.token(*WRITING, company_id=self.company)

    def arguments(self, operation: Operation) -> Arguments:
        """Valid arguments, the same each time: what is refused leaves them valid."""
        if operation.name not in self._arguments:
            self._arguments[operation.name] = CASES[operation.name].arguments(self)
        return self._arguments[operation.name]


@contextlib.contextmanager
def open_stage(box: Box) -> Iterator[Stage]:
    """A stage for many tests on a shared server: its clients stay open between tests."""
    own = copy.copy(box)
    own._clients = []
    try:
        yield Stage(own)
    finally:
        own.close_clients()


NEVER = {
    "company": "co_000000000000",
    "project": "proj_000000000000",
    "column": "col_000000000000",
    "ticket": "t-00000000",
    "ticket_key": "NEVER-1",
    "comment": "cmt_000000000000",
    "capture": "cap_000000000000",
    "expectation": "exp_000000000000",
    "asset": "asset_000000000000",
    "user": "usr_000000000000",
    "token": "key_000000000000",
    "app": "key_000000000000",
    "session": "ses_000000000000",
    "invitation": "inv_000000000000",
    "notification": "ntf_zzzzzzzzzzzz",
    "webhook": "hook_000000000000",
    "git_hook": "git_000000000000",
    "report_key": "rpk_000000000000",
    "delivery": "dlv_zzzzzzzzzzzz",
    "question": "qst_000000000000",
    "criterion": "crt_000000000000",
    "verification": "ver_000000000000",
    "work_session": "wrk_000000000000",
    "label": "lbl_000000000000",
    "source_map": "map_000000000000",
    "view": "view_000000000000",
    "passkey": "pk_zzzzzzzzzzzz",
}


def _ticket(world: World) -> Arguments:
    return {"ticket_id": world.ticket()["id"]}


def _shot(world: World) -> Arguments:
    return {"ticket_id": make_capture(world)["ticket_id"]}


def _external_capture(world: World) -> Arguments:
    return {"capture_id": create_external_capture(world)["id"]}


def _capture(world: World) -> Arguments:
    return {"capture_id": make_capture(world)["capture_id"]}


def _asset(world: World) -> Arguments:
    return {"asset_id": screenshot_of(world, make_capture(world)["ticket_id"])}


def create_criterion(world: World, ticket: str) -> str:
    """A criterion that a token proposed; its id."""
    return ok(world.api.post(f"/tickets/{ticket}/criteria", json={"text": "The total is right"}))["id"]


def _criterion(world: World) -> Arguments:
    return {"criterion_id": create_criterion(world, world.ticket()["id"])}


def _attachment(world: World) -> Arguments:
    path = f"/tickets/{world.ticket()['id']}/attachments"
    return {"asset_id": ok(world.api.post(path, files={"file": ("note.txt", b"text")}))["id"]}


def _archive_ticket(world: World) -> Arguments:
    ticket = world.ticket()["id"]
    ok(world.owner.web.post(f"/tickets/{ticket}/archive"))  # another case may have set gates, which bind agents
    return {"ticket_id": ticket}


def _company(world: World) -> Arguments:
    return {"company_id": world.company}


def _create_empty_company(world: World) -> Arguments:
    """A company that may be removed; in a stage everybody has the same role there as in the stage's own."""
    company = ok(world.owner.web.post("/companies", json={"name": "Doomed"}))["id"]
    for role, person in world.people.items() if isinstance(world, Stage) else ():
        given = {"role": role.label}
        secret = ok(world.owner.web.post(f"/companies/{company}/invitations", json=given))["secret"]
        ok(person.web.post(f"/invitations/accept/{secret}", json={}))
    return {"company_id": company, "confirm_name": "Doomed"}


def _create_empty_project(world: World) -> Arguments:
    return {"project_id": world.new_project("Doomed"), "confirm_name": "Doomed"}


def _create_empty_column(world: World) -> Arguments:
    return {"column_id": create_spare_column(world), "move_to": world.columns[0]}


def _member(world: World) -> Arguments:
    return {"company_id": world.company, "user_id": world.join(f"Guest{next(_numbers)}").id}


def _stranger(world: World) -> Person:
    return Person(world.box, "Stranger")


def _link_stranger(world: World) -> Person:
    """Somebody who signs in with an identity provider, too."""
    person = _stranger(world)
    update_row(
        world.box.db,
        "INSERT INTO identity (user_id, issuer, subject, created_at, last_used_at) "
        "SELECT id, 'https://login.example', public_id, 0, 0 FROM user WHERE public_id = ?",
        person.id,
    )
    return person


def _member_with_factor(world: World) -> Arguments:
    person = world.join(f"Guest{next(_numbers)}")
    _insert_factor(person, 0)
    return {"company_id": world.company, "user_id": person.id}


TOTP_SECRET = b"12345678901234567890"
RECOVERY_CODE = "0123-4567-89ab-cdef"


def _insert_factor(person: Person, enabled_at: int | None) -> Person:
    insert = "INSERT INTO second_factor (user_id, secret, enabled_at) SELECT id, ?, ? FROM user WHERE public_id = ?"
    update_row(person.box.db, insert, TOTP_SECRET, enabled_at, person.id)
    return person


def _stranger_with_secret(world: World) -> Person:
    """Somebody who must enter the first code of an authenticator app."""
    return _insert_factor(_stranger(world), None)


def _first_code(_: World) -> Arguments:
    return {"code": totp.compute_code(TOTP_SECRET, int(time.time()) // 30)}


def _stranger_with_factor(world: World) -> Person:
    """Somebody who signs in with a second factor."""
    person = _insert_factor(_stranger(world), 0)
    insert = "INSERT INTO recovery_code (user_id, code_hash) SELECT id, ? FROM user WHERE public_id = ?"
    update_row(world.box.db, insert, hash_secret(totp.normalize_code(RECOVERY_CODE)), person.id)
    return person


PASSKEY_ID = "pk_000000000000"
HOLD_PASSKEY = """
INSERT OR REPLACE INTO passkey (public_id, user_id, credential_id, credential, sign_count, name, created_at)
SELECT ?, id, ?, ?, 0, 'Phone', 0 FROM user WHERE public_id = ?
"""
WAIT_FOR_PASSKEY = """
INSERT INTO provider_request (secret_hash, data, expires_at) VALUES (?, json_object('purpose', ?), 9e12)
"""


@functools.cache
def _device(url: str) -> PasskeyDevice:
    return PasskeyDevice(url)


def _create_spare_passkey(world: World) -> str:
    _stranger_with_passkey(world)
    return PASSKEY_ID


def _stranger_with_passkey(world: World) -> Person:
    """Somebody who holds the one passkey of these cases from now on."""
    person, device = _stranger(world), _device(world.box.url)
    values = PASSKEY_ID, device.credential_id, device.attested_credential, person.id
    update_row(world.box.db, HOLD_PASSKEY, *values)
    return person


def _wait_for_passkey(world: World, purpose: str) -> dict[str, Any]:
    """The options of a challenge that anybody can answer."""
    challenge = encode_base64url(secrets.token_bytes(32))
    update_row(world.box.db, WAIT_FOR_PASSKEY, hash_secret(challenge), purpose)
    return {"challenge": challenge}


def _new_passkey(world: World) -> Arguments:
    return {**PasskeyDevice(world.box.url).create(_wait_for_passkey(world, "create"))}


def _sign_in_with_passkey(world: World) -> Arguments:
    _stranger_with_passkey(world)
    return {**_device(world.box.url).sign(_wait_for_passkey(world, "sign_in"))}


def _confirm_with_passkey(world: World) -> Arguments:
    return {**_device(world.box.url).sign(_wait_for_passkey(world, "confirm"))}


def _ask(world: World) -> Arguments:
    question = create_question(world)
    return {"ticket_id": question["ticket_id"], "lease": question["lease"]}


def _annotation(world: World) -> Arguments:
    mark = {"kind": "rectangle", "geometry": {"x": 4, "y": 6, "width": 20, "height": 8}, "text": "empty"}
    return {**_asset(world), "annotations": [mark]}


EXPECTATION = {
    "is": "text", "target": {"name": "Total", "selectors": ["#total"]}, "seen": "40.00 €", "right": "80.00 €",
}  # fmt: skip
VERIFICATION = {"commit": "9fceb02d", "base_url": "http://localhost:3000", "verdict": "gone"}
MEMBER, ADMIN, OWNER = Role.MEMBER, Role.ADMIN, Role.OWNER

CASES: dict[str, Case] = {
    "get_me": Case(),
    "list_companies": Case(),
    "list_projects": Case(_company),
    "list_columns": Case(lambda w: {"project_id": w.project}),
    "list_members": Case(_company),
    "list_tickets": Case(lambda w: {"project_id": w.project, "status": "all", "sort": "-priority"}),
    "export_tickets": Case(lambda w: {"project_id": w.project, "status": "all", "sort": "-priority"}),
    "export_search": Case(lambda w: {"q": "Spare", "project_id": w.project}),
    "get_ticket": Case(lambda w: {**_shot(w), "include": ["capture", "comments", "history"]}),
    "find_similar_tickets": Case(_ticket),
    "search": Case(lambda w: {"q": ok(w.api.get(f"/tickets/{make_capture(w)['ticket_id']}"))["title"]}),
    "list_comments": Case(_ticket),
    "get_ticket_history": Case(_ticket),
    "get_console": Case(_capture),
    "get_network": Case(_capture),
    "get_errors": Case(_capture),
    "get_actions": Case(_capture),
    "get_timeline": Case(_capture),
    "upload_source_map": Case(
        lambda w: {"project_id": w.project, "release": "1.0", "file": ("a.js.map", build_source_map())}, Role.MEMBER
    ),
    "list_source_maps": Case(lambda w: {"project_id": w.project}),
    "delete_source_map": Case(lambda w: {"source_map_id": create_spare_source_map(w)}, Role.MEMBER),
    "get_network_request": Case(lambda w: {**_capture(w), "entry": "r1"}),
    "get_error": Case(lambda w: {**_capture(w), "entry": 2}),
    "get_har": Case(_capture),
    "get_reproduction": Case(_capture),
    "get_replay": Case(_capture),
    "get_replay_transcript": Case(_capture),
    "get_screenshot": Case(lambda w: {**_shot(w), "max_side": 32}),
    "get_thumbnail": Case(_asset),
    "get_asset": Case(_asset),
    "get_asset_content": Case(_asset),
    "list_attachments": Case(_ticket),
    "list_captures": Case(_shot),
    "list_annotations": Case(_asset),
    "list_events": Case(lambda _: {"types": ["ticket.created", "ticket.moved"]}),
    "wait_for_events": Case(lambda _: {"types": ["ticket.created"], "wait_seconds": 0}),
    "stream_events": Case(lambda _: {"types": ["ticket.created"]}),
    "create_ticket": Case(lambda w: {"project_id": w.project, "title": "New"}, MEMBER),
    "create_capture": Case(lambda w: capture_arguments(w.project), MEMBER),
    "update_ticket": Case(lambda w: {**_ticket(w), "title": "Changed"}, MEMBER),
    "move_ticket": Case(lambda w: {**_ticket(w), "column_id": w.columns[1]}, MEMBER),
    "bulk_move_tickets": Case(lambda w: {"ticket_ids": [w.ticket()["id"]], "column_id": w.columns[1]}, MEMBER),
    "archive_ticket": Case(_ticket, MEMBER),
    "restore_ticket": Case(_ticket, MEMBER),
    "link_tickets": Case(lambda w: {**_ticket(w), "kind": "blocks", "other": w.ticket()["id"]}, MEMBER),
    "unlink_tickets": Case(lambda w: {**_ticket(w), "kind": "blocks", "other": w.ticket()["id"]}, MEMBER),
    "claim_next_ticket": Case(lambda w: {"project_id": w.project if w.ticket() else ""}, MEMBER),
    "send_to_agent": Case(_ticket, MEMBER),
    "start_work": Case(lambda w: {**_ticket(w), "branch": "fix", "lease_minutes": 5}, MEMBER),
    "stop_work": Case(_ticket, MEMBER),
    "report_progress": Case(lambda w: {**start_work(w), "note": "Found it"}, MEMBER),
    "finish_work": Case(lambda w: {**start_work(w), "comment": "Fixed", "resolved": True}, MEMBER),
    "list_work_sessions": Case(lambda w: {**_company(w), "state": "active"}),
    "ask_human": Case(lambda w: {**start_work(w), "question": "Which one?"}, MEMBER),
    "wait_for_answer": Case(_ask),
    "answer_question": Case(
        lambda w: {"question_id": create_question(w, by=w.join("Asker"))["id"], "answer": "The first"}, MEMBER
    ),
    "decide_approval": Case(
        lambda w: {"session_id": request_approval(w)["session_id"], "approve": True, "note": "Well done"}, MEMBER
    ),
    "add_occurrence": Case(_ticket, MEMBER),
    "find_failure": Case(
        lambda w: {"project_id": w.project, "test": "cart.spec.js › pays", "message": "Error: no total"}
    ),
    "add_verification": Case(lambda w: {**_ticket(w), **VERIFICATION}, MEMBER),
    "list_verifications": Case(_ticket),
    "list_criteria": Case(_ticket),
    "add_criterion": Case(lambda w: {**_ticket(w), "text": "The total has the discount"}, MEMBER),
    "update_criterion": Case(lambda w: {**_criterion(w), "text": "The total has both discounts"}, MEMBER),
    "remove_criterion": Case(_criterion, MEMBER),
    "accept_criterion": Case(lambda w: {**_criterion(w), "note": "Looked at it"}, MEMBER),
    "add_evidence": Case(lambda w: {**_criterion(w), "text": "It has the discount"}, MEMBER),
    "add_attachment": Case(lambda w: {**_ticket(w), "file": ("note.txt", b"text")}, MEMBER),
    "save_annotations": Case(_annotation, MEMBER),
    "delete_attachment": Case(_attachment, ADMIN),
    "delete_capture": Case(_capture, ADMIN),
    "add_expectation": Case(lambda w: {**_capture(w), **EXPECTATION}, MEMBER),
    "confirm_expectation": Case(lambda w: {"expectation_id": create_expectation(w)}, MEMBER),
    "remove_expectation": Case(lambda w: {"expectation_id": create_expectation(w)}, MEMBER),
    "choose_bug": Case(lambda w: {**_capture(w), "stream": "errors", "entry": "2"}, MEMBER),
    "confirm_capture": Case(_external_capture, MEMBER),
    "delete_ticket": Case(_archive_ticket, ADMIN),
    "add_comment": Case(lambda w: {**_ticket(w), "body": "Said"}, MEMBER),
    "edit_comment": Case(lambda w: {"comment_id": create_comment(w), "body": "Said better"}, MEMBER),
    "delete_comment": Case(lambda w: {"comment_id": create_comment(w)}, MEMBER),
    "assign_ticket": Case(lambda w: {**_ticket(w), "user_id": w.owner.id}, MEMBER),
    "unassign_ticket": Case(lambda w: {**_ticket(w), "user_id": w.owner.id}, MEMBER),
    "bulk_assign_tickets": Case(lambda w: {"ticket_ids": [w.ticket()["id"]], "user_ids": [w.owner.id]}, MEMBER),
    "create_session": Case(lambda w: {"email": w.owner.email, "password": PASSWORD}),
    "delete_session": Case(caller=_stranger),
    "list_sessions": Case(),
    "confirm_password": Case(lambda _: {"current_password": PASSWORD}, caller=_stranger),
    "list_security_events": Case(),
    "get_sign_in_methods": Case(),
    "unlink_provider": Case(caller=_link_stranger),
    "start_second_factor": Case(caller=_stranger),
    "enable_second_factor": Case(_first_code, caller=_stranger_with_secret),
    "disable_second_factor": Case(lambda _: {"code": RECOVERY_CODE}, caller=_stranger_with_factor),
    "replace_recovery_codes": Case(lambda _: {"code": RECOVERY_CODE}, caller=_stranger_with_factor),
    "start_passkey": Case(caller=_stranger),
    "add_passkey": Case(_new_passkey, caller=_stranger),
    "list_passkeys": Case(caller=_stranger_with_passkey),
    "rename_passkey": Case(lambda _: {"passkey_id": PASSKEY_ID, "name": "Key"}, caller=_stranger_with_passkey),
    "delete_passkey": Case(lambda _: {"passkey_id": PASSKEY_ID}, caller=_stranger_with_passkey),
    "start_passkey_sign_in": Case(),
    "sign_in_with_passkey": Case(_sign_in_with_passkey),
    "start_passkey_confirmation": Case(caller=_stranger_with_passkey),
    "confirm_with_passkey": Case(_confirm_with_passkey, caller=_stranger_with_passkey),
    "revoke_session": Case(lambda w: {"session_id": create_spare_session(w)}),
    "get_profile": Case(),
    "update_profile": Case(lambda w: {"name": w.owner.name}),
    "change_password": Case(lambda _: {"current_password": PASSWORD, "new_password": PASSWORD}, caller=_stranger),
    "list_tokens": Case(),
    "create_token": Case(lambda w: {"label": "New", "scopes": ["read"], "company_id": w.company}, MEMBER),
    "revoke_token": Case(lambda w: {"token_id": create_spare_token(w)}),
    "list_connected_apps": Case(),
    "revoke_connected_app": Case(lambda w: {"app_id": connect_app(w)}),
    "create_company": Case(lambda _: {"name": "Another"}),
    "update_company": Case(lambda w: {**_company(w), "name": "Renamed"}, ADMIN),
    "delete_company": Case(_create_empty_company, OWNER),
    "create_project": Case(lambda w: {**_company(w), "name": "Project"}, ADMIN),
    "update_project": Case(lambda w: {"project_id": w.project, "name": "Project"}, ADMIN),
    "add_site": Case(lambda w: {"project_id": w.project, "origin": f"https://{next(_numbers)}.example"}, ADMIN),
    "delete_project": Case(_create_empty_project, ADMIN),
    "list_labels": Case(lambda w: {"company_id": w.company}),
    "create_label": Case(lambda w: {"company_id": w.company, "name": f"label {next(_numbers)}"}, MEMBER),
    "update_label": Case(lambda w: {"label_id": create_spare_label(w), "color": "red"}, ADMIN),
    "merge_labels": Case(lambda w: {"label_id": create_spare_label(w), "into": create_spare_label(w)}, ADMIN),
    "delete_label": Case(lambda w: {"label_id": create_spare_label(w)}, ADMIN),
    "count_tickets": Case(_company),
    "list_views": Case(lambda w: {"project_id": w.project}),
    "create_view": Case(lambda w: {"project_id": w.new_project("For views"), "name": "View"}, MEMBER),
    "update_view": Case(lambda w: {"view_id": create_spare_view(w), "name": "Renamed"}, ADMIN),
    "delete_view": Case(lambda w: {"view_id": create_spare_view(w)}, ADMIN),
    "create_column": Case(lambda w: {"project_id": w.new_project("For columns"), "name": "Column"}, ADMIN),
    "update_column": Case(lambda w: {"column_id": w.columns[0], "name": "First"}, ADMIN),
    "delete_column": Case(_create_empty_column, ADMIN),
    "update_member": Case(lambda w: {**_member(w), "role": "viewer"}, ADMIN),
    "remove_member": Case(_member, ADMIN),
    "reset_member_second_factor": Case(_member_with_factor, OWNER),
    "list_invitations": Case(_company, ADMIN),
    "create_invitation": Case(lambda w: {**_company(w), "email": "bob@example.org"}, ADMIN),
    "delete_invitation": Case(lambda w: {"invitation_id": create_invitation(w)["id"]}, ADMIN),
    "get_invitation": Case(lambda w: {"secret": create_invitation(w)["secret"]}),
    "accept_invitation": Case(lambda w: {"secret": create_invitation(w)["secret"]}, caller=_stranger),
    "get_audit": Case(_company, ADMIN),
    "list_notifications": Case(lambda _: {"unread": "true"}),
    "count_unread_notifications": Case(),
    "read_notification": Case(lambda w: {"notification_id": insert_notification(w)}),
    "mark_notification_unread": Case(lambda w: {"notification_id": insert_notification(w)}),
    "snooze_notification": Case(lambda w: {"notification_id": insert_notification(w), "until": format_tomorrow()}),
    "read_all_notifications": Case(),
    "list_mutes": Case(),
    "mute_ticket": Case(_ticket),
    "unmute_ticket": Case(_ticket),
    "follow_ticket": Case(_ticket),
    "unfollow_ticket": Case(_ticket),
    "update_presence": Case(lambda world: _ticket(world) | {"stream": "tab-1"}),
    "mute_project": Case(lambda w: {"project_id": w.project}),
    "unmute_project": Case(lambda w: {"project_id": w.project}),
    "list_webhooks": Case(_company, ADMIN),
    "create_webhook": Case(lambda w: {**_company(w), "name": "Hook", "url": "https://203.0.114.9/"}, ADMIN),
    "update_webhook": Case(lambda w: {"webhook_id": create_webhook(w), "name": "Renamed"}, ADMIN),
    "delete_webhook": Case(lambda w: {"webhook_id": create_webhook(w)}, ADMIN),
    "list_deliveries": Case(lambda w: {"webhook_id": create_webhook(w)}, ADMIN),
    "rotate_webhook_secret": Case(lambda w: {"webhook_id": create_webhook(w)}, ADMIN),
    "list_report_keys": Case(lambda w: {"project_id": w.project}, ADMIN),
    "create_report_key": Case(lambda w: {"project_id": w.project, "kind": "link", "name": "Shop"}, ADMIN),
    "update_report_key": Case(lambda w: {"report_key_id": create_report_key(w)["id"], "name": "Renamed"}, ADMIN),
    "rotate_report_key": Case(lambda w: {"report_key_id": create_report_key(w)["id"]}, ADMIN),
    "create_identity_secret": Case(lambda w: {"report_key_id": create_report_key(w)["id"]}, ADMIN),
    "delete_identity_secret": Case(lambda w: {"report_key_id": create_report_key(w)["id"]}, ADMIN),
    "delete_report_key": Case(lambda w: {"report_key_id": create_report_key(w)["id"]}, ADMIN),
    "create_report": Case(lambda w: {"key": create_lasting_key(w), "title": "No receipt came"}),
    "get_report_settings": Case(lambda w: {"key": create_lasting_key(w)}),
    "reply_to_reporter": Case(lambda w: {"ticket_id": create_report(w), "body": "Which browser?"}, MEMBER),
    "get_reporter": Case(lambda w: {"ticket_id": create_report(w)}),
    "list_git_hooks": Case(lambda w: {"project_id": w.project}, ADMIN),
    "create_git_hook": Case(lambda w: {"project_id": w.project, "name": "shop/web"}, ADMIN),
    "update_git_hook": Case(lambda w: {"git_hook_id": create_git_hook(w), "name": "Renamed"}, ADMIN),
    "rotate_git_hook_secret": Case(lambda w: {"git_hook_id": create_git_hook(w)}, ADMIN),
    "delete_git_hook": Case(lambda w: {"git_hook_id": create_git_hook(w)}, ADMIN),
    "list_attempts": Case(lambda w: {"delivery_id": insert_delivery(w)}, ADMIN),
    "replay_delivery": Case(lambda w: {"delivery_id": insert_delivery(w)}, ADMIN),
}

# Calls that only a server with --smtp-url accepts.
NEEDS_EMAIL = {"reply_to_reporter"}


def operations() -> list[Operation]:
    """Every operation with a REST route."""
    return [operation for operation in load_registry() if operation.routes]


def build_request(
    client: httpx.Client, operation: Operation, arguments: Arguments, route: Route | None = None
) -> httpx.Request:
    """The request that calls an operation: its arguments in the path, then in the query, body or parts."""
    route = route or operation.routes[0]
    path = route.path.format(**arguments)
    rest = {name: value for name, value in arguments.items() if name not in route.parameters}
    if operation.body is Body.NONE:
        named = list_header_arguments(operation)
        headers = {named[name].name: rest.pop(name) for name in named if name in rest}
        query = {name: ",".join(value) if isinstance(value, list) else value for name, value in rest.items()}
        return client.build_request(route.method, path, params=query, headers=headers)
    if operation.body is Body.MULTIPART:
        return client.build_request(route.method, path, files=build_parts(rest))
    return client.build_request(route.method, path, json=rest)


def build_parts(arguments: Arguments) -> list[tuple[str, Any]]:
    """The parts of a form: JSON for the envelope, files for all else."""
    sent: list[tuple[str, Any]] = []
    for name, value in arguments.items():
        if isinstance(value, dict):
            sent.append((name, (None, json.dumps(value).encode(), "application/json")))
        else:
            sent.append((name, value if isinstance(value, tuple) else (name, value)))
    return sent


def check_common_headers(answer: httpx.Response) -> None:
    """Check the headers that every response carries."""
    headers = answer.headers
    assert headers["x-content-type-options"] == "nosniff"
    assert len(headers["x-request-id"]) == 16
    name, _, rest = headers["ratelimit-policy"].partition(";")
    assert rest.startswith("q=")
    assert rest.endswith(";w=60")
    assert headers["ratelimit"].startswith(f"{name};r=")


def draw_address() -> str:
    """A client address that no other client has."""
    return ".".join(str(10 + secrets.randbelow(200)) for _ in range(4))


def read_only(db: Path) -> sqlite3.Connection:
    """A look at the file beside the running server."""
    connection = sqlite3.connect(f"file:{db}?mode=ro", uri=True)
    add_functions(connection)
    return connection


def update_row(db: Path, statement: str, *parameters: object) -> None:
    """Change a row beside the running server, as time alone would: an expiry, a lease."""
    connection = sqlite3.connect(db, timeout=60)
    try:
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        with connection:
            assert connection.execute(statement, parameters).rowcount > 0, statement
    finally:
        connection.close()


# When a credential was last used is written now and then, whatever the request came to; and webhooks look at events
# after they happened.
_FLEETING = {
    "credential": {"last_used_at"},
    "webhook": {"seen", "failing_since"},
    "mail": {"state", "attempts", "due_at", "first_at", "last_at", "error"},
}
# Jobs fill or merge these whenever they get to it, for another test's rows as well.
_OF_JOBS = {"delivery", "attempt", "search_data", "search_idx"}


class _Contents:
    """What a file contains, read again only after a commit."""

    def __init__(self, db: Path) -> None:
        self._connection = read_only(db)
        self._version = 0
        self._rows: dict[str, list[Any]] = {}

    def read(self) -> dict[str, list[Any]]:
        """Return every row. `data_version` is another number after each commit of another connection."""
        (version,) = self._connection.execute("PRAGMA data_version").fetchone()
        if version != self._version:
            tables = [table for table in _tables(self._connection) if table not in _OF_JOBS]
            self._rows = {table: _rows_of(self._connection, table) for table in tables}
            self._version = version
        return self._rows


_contents = functools.cache(_Contents)


def read_contents(db: Path) -> dict[str, list[Any]]:
    """Every row of every table, except for what changes without a request."""
    return _contents(db).read()


def _tables(connection: sqlite3.Connection) -> Iterator[str]:
    query = (
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND sql NOT LIKE '%VIRTUAL%'"
    )
    for (name,) in connection.execute(query).fetchall():
        yield name


def _rows_of(connection: sqlite3.Connection, table: str) -> list[Any]:
    names = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
    kept = ", ".join(name for name in names if name not in _FLEETING.get(table, set()))
    return connection.execute(f"SELECT {kept} FROM {table}").fetchall()
