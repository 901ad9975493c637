"""Every operation × everyone without access: rejected as documented, and nothing changes.

It is made from the registry, so a new operation is in it as soon as `cases.py` has a valid call for it.
"""

import contextlib
import copy
import typing
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import httpx
import msgspec
import pytest

from tests.support.operation_cases import (
    CASES,
    NEVER,
    WRITING,
    Arguments,
    Stage,
    build_request,
    check_common_headers,
    create_rows,
    draw_address,
    operations,
    read_contents,
    update_row,
)
from tests.support.server import PASSWORD, Box, World, ok, run_server
from ticketbox.cli.core.operations import run_operation
from ticketbox.domain.accounts.secrets import generate_secret
from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.access.scopes import Access, Role, Scope
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.operations.catalogue import load_registry
from ticketbox.operations.core.registry import Operation, operation
from ticketbox.store.file.database import Read

OPERATIONS = {each.name: each for each in operations()}
Headers = list[tuple[str, str]]


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Box]:
    """A server of the matrix's own, so that whole files can be compared before and after."""
    email = ["--smtp-url", "smtp://localhost:9", "--smtp-from", "box@tickets.example"]  # nothing is sent
    with run_server(tmp_path_factory.mktemp("matrix"), "--trusted-proxy", "127.0.0.1/32", *email) as running:
        yield running


class Crowd(Stage):
    """A stage with everybody who may not, and with rows that aren't theirs."""

    def __init__(self, box: Box) -> None:
        super().__init__(box)
        db = box.db
        elsewhere = World(box)
        self.ids = {"foreign": create_rows(elsewhere), "outside": create_rows(self, self.second)}
        # The owner sees this one as well; a token that is pinned to the first company doesn't.
        beside = World.__new__(World)
        beside.box, beside.owner = box, self.owner
        beside.company = ok(self.owner.web.post("/companies", json={"name": "Beside"}))["id"]
        beside.project = beside.new_project("Beside")
        beside.api = self.owner.client(*WRITING, company_id=beside.company)
        self.ids["beside"] = self.ids["away"] = create_rows(beside)
        for world, whose, key in ((elsewhere, "foreign", "FGN"), (self, "outside", "OUT"), (beside, "beside", "BES")):
            ok(world.owner.web.patch(f"/projects/{self.ids[whose]['project']}", json={"key": key}))
            self.ids[whose]["ticket_key"] = ok(world.api.get(f"/tickets/{self.ids[whose]['ticket']}"))["key"]
        pinned = {"company_id": self.company}
        self.kept = self.owner.token(*WRITING, company_id=self.company, project_ids=[self.project])
        self.scoped = {
            scopes: self.owner.token(*scopes, **pinned)
            for scopes in {too_small for each in OPERATIONS.values() for too_small in smaller(each)}
        }
        self.revoked = self.owner.token(*WRITING, **pinned, label="revoked")
        run_operation(db, "revoke_issued_token", {"token_id": self.owner.find_token("revoked")})
        self.expired = self.owner.token(*WRITING, **pinned, label="expired", expires_days=1)
        update_row(db, "UPDATE credential SET expires_at = created_at WHERE label = 'expired'")
        gone = self.join("Gone", "owner")
        self.disabled, self.disabled_session = self.join_token(gone), gone.session
        run_operation(db, "disable_user", {"user": gone.id})
        self.revoked_session = self.new_session()
        ok(box.client(Cookie=f"{box.cookie}={self.revoked_session}").delete("/session"))
        self.expired_session = self.new_session()
        update_row(db, "UPDATE credential SET expires_at = created_at WHERE id = (SELECT max(id) FROM credential)")
        self.client = box.client()

    def new_session(self) -> str:
        """The secret of another session of the owner's."""
        web = self.box.client()
        ok(web.post("/session", json={"email": self.owner.email, "password": PASSWORD}))
        return web.cookies[self.box.cookie]

    def call(self, operation: Operation, arguments: Arguments, headers: Headers) -> httpx.Response:
        """Send a call with only these credentials, from its own address."""
        request = build_request(self.client, operation, arguments)
        sent = [(name, value) for name, value in request.headers.items() if name != "x-forwarded-for"]
        sent += [("X-Forwarded-For", draw_address()), *headers]
        self.client.cookies.clear()
        return self.client.send(httpx.Request(request.method, request.url, headers=sent, content=request.read()))


@pytest.fixture(scope="module")
def crowd(box: Box) -> Crowd:
    """One crowd for all: a refusal changes nothing, so nobody is in another's way."""
    return Crowd(box)


def bearer(secret: str) -> Headers:
    """A token as it should be sent."""
    return [("Authorization", f"Bearer {secret}")]


def cookie(crowd: Crowd, secret: str) -> Headers:
    """A session as a browser sends it."""
    return [("Cookie", f"{crowd.box.cookie}={secret}")]


def test_every_operation_with_a_route_has_a_case() -> None:
    assert set(CASES) == set(OPERATIONS)


def test_operations_have_unique_routes() -> None:
    lines = [(route.method, route.path) for route, _ in load_registry().list_routes()]
    assert len(set(lines)) == len(lines)


# Nobody's credentials: refused before anything is looked at. The first group doesn't get past the edge.
NO_CREDENTIAL: dict[str, Callable[[Crowd], Headers]] = {
    "Basic": lambda c: [("Authorization", f"Basic {c.token}")],
    "Token": lambda c: [("Authorization", f"Token {c.token}")],
    "bare": lambda c: [("Authorization", c.token)],
    "empty": lambda _: [("Authorization", "")],
    "malformed": lambda _: bearer("tok_1234"),
    "typing-error": lambda c: bearer(c.token[:-1] + ("a" if c.token[-1] != "a" else "b")),
    "two-headers": lambda c: [*bearer(c.token), *bearer(c.token)],
}
DEAD: dict[str, Callable[[Crowd], Headers]] = {
    "anonymous": lambda _: [],
    "unknown": lambda _: bearer(generate_secret()),
    "revoked": lambda c: bearer(c.revoked),
    "expired": lambda c: bearer(c.expired),
    "disabled-user": lambda c: bearer(c.disabled),
    "session-as-token": lambda c: bearer(c.owner.session),
    "token-as-cookie": lambda c: cookie(c, c.token),
    "malformed-cookie": lambda c: cookie(c, "tok_1234"),
    "unknown-cookie": lambda c: cookie(c, generate_secret()),
    "revoked-session": lambda c: cookie(c, c.revoked_session),
    "expired-session": lambda c: cookie(c, c.expired_session),
    "disabled-session": lambda c: cookie(c, c.disabled_session),
}


EACH = pytest.mark.parametrize("declared", list(OPERATIONS.values()), ids=list(OPERATIONS))


@EACH
def test_invalid_credential_is_unauthorized(crowd: Crowd, declared: Operation) -> None:
    """A public operation needs no credential, but one that is wrong on its face is refused all the same."""
    arguments = crowd.arguments(declared)
    with expect_no_change(crowd) as trying:
        for who, headers in {**NO_CREDENTIAL, **({} if declared.scope is Access.PUBLIC else DEAD)}.items():
            with trying(who):
                answer = crowd.call(declared, arguments, headers(crowd))
                problem = is_problem(answer, 401, "unauthorized")
                assert answer.headers["www-authenticate"].startswith("Bearer")
                assert problem["title"] == "unauthorized"


def smaller(declared: Operation) -> list[tuple[str, ...]]:
    """The scopes that don't do, each alone and all of them together."""
    if not isinstance(declared.scope, Scope):
        return []
    short = [each.value for each in Scope if declared.scope not in each.included_scopes]
    return [(each,) for each in short] + ([tuple(short)] if len(short) > 1 else [])


@EACH
def test_insufficient_scope_is_named(crowd: Crowd, declared: Operation) -> None:
    arguments = crowd.arguments(declared)
    with expect_no_change(crowd) as trying:
        for scopes in smaller(declared):
            with trying("+".join(scopes)):
                answer = crowd.call(declared, arguments, bearer(crowd.scoped[scopes]))
                assert is_problem(answer, 403, "insufficient_scope")["scope"] == declared.scope


@EACH
def test_token_cannot_call_what_needs_a_session(crowd: Crowd, declared: Operation) -> None:
    if declared.scope is Access.SESSION:
        arguments = crowd.arguments(declared)
        with expect_no_change(crowd):
            is_problem(crowd.call(declared, arguments, bearer(crowd.token)), 403, "forbidden")


@EACH
def test_insufficient_role_is_forbidden(crowd: Crowd, declared: Operation) -> None:
    """By session and, where a token could do it, by a token with every scope."""
    arguments = crowd.arguments(declared)
    with expect_no_change(crowd) as trying:
        for role in (role for role in Role if role < CASES[declared.name].least):
            carriers = {"session": cookie(crowd, crowd.people[role].session)}
            if isinstance(declared.scope, Scope):
                carriers["token"] = bearer(crowd.tokens[role])
            for carrier, headers in carriers.items():
                with trying(f"{role.label}'s {carrier}"):
                    answer = crowd.call(declared, arguments, headers)
                    assert outcome(answer) == (403, "forbidden")
                    assert "role" in answer.text


class Slot(NamedTuple):
    """A place in an operation's arguments where an id of a row stands."""

    field: str
    noun: str


NOUNS = {
    "company_id": "company",
    "project_id": "project",
    "project_ids": "project",
    "column_id": "column",
    "move_to": "column",
    "ticket_id": "ticket",
    "ticket_ids": "ticket",
    "before": "ticket",
    "after": "ticket",
    "other": "ticket",
    "comment_id": "comment",
    "question_id": "question",
    "criterion_id": "criterion",
    "verification_id": "verification",
    "capture_id": "capture",
    "expectation_id": "expectation",
    "asset_id": "asset",
    "user_id": "user",
    "user_ids": "user",
    "assignee": "user",
    "token_id": "token",
    "app_id": "app",
    "session_id": "session",
    "invitation_id": "invitation",
    "notification_id": "notification",
    "webhook_id": "webhook",
    "git_hook_id": "git_hook",
    "report_key_id": "report_key",
    "delivery_id": "delivery",
    "source_map_id": "source_map",
    "label_id": "label",
    "into": "label",
    "view_id": "view",
    "passkey_id": "passkey",
}
# A work session's id has the name that a web session's has elsewhere.
OTHER_NOUNS = {("decide_approval", "session_id"): "work_session"}
# An event's id is a number in a sequence: `after` compares with it, and no row is looked up.
# A job empties it at any time.
EMPTIED = {"unresolved_capture"}
# A view keeps the people of its filters, as list_tickets accepts them.
NO_ROW = {
    ("list_events", "after"), ("wait_for_events", "after"), ("stream_events", "after"),
    ("add_expectation", "other"), ("create_view", "filters.assignee"), ("update_view", "filters.assignee"),
}  # fmt: skip


def slots(declared: Operation) -> Iterator[Slot]:
    """Every place for an id, one level down as well (`capture.ticket_id`)."""
    for field in msgspec.structs.fields(declared.arguments):
        kinds = [field.type, *typing.get_args(field.type)]
        nested = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, msgspec.Struct)]
        names = [(f"{field.name}.{part.name}", part.name) for kind in nested for part in msgspec.structs.fields(kind)]
        for path, name in [(field.name, field.name), *names]:
            if name in NOUNS and (declared.name, path) not in NO_ROW:
                yield Slot(path, OTHER_NOUNS.get((declared.name, path), NOUNS[name]))


def test_matrix_covers_every_id_field() -> None:
    known = {(name, slot.field) for name, each in OPERATIONS.items() for slot in slots(each)}
    for name, each in OPERATIONS.items():
        for field in msgspec.structs.fields(each.arguments):
            if field.name.endswith(("_id", "_ids")):
                assert (name, field.name) in known


def with_id(declared: Operation, arguments: Arguments, slot: Slot, value: str) -> Arguments:
    """The arguments with another id in one place."""
    changed = copy.deepcopy(arguments)
    if declared.name in FILTERS:
        changed.pop("project_id", None)
        changed.pop("company_id", None)
    within, _, name = slot.field.rpartition(".")
    at = changed[within] if within else changed
    at[name] = [value] if name.endswith("_ids") else value
    if slot.field == "capture.ticket_id":
        at.pop("project_id")
    if slot.field in {"project_id", "project_ids"} and declared.name in {"create_token"}:
        changed.pop("company_id", None)
    return changed


def reach(declared: Operation, slot: Slot, whose: str) -> bool:
    """Whether a row of theirs is outside what the caller reaches."""
    if whose == "foreign":
        return True
    if not isinstance(declared.scope, Scope) or slot.noun == "user":
        return False  # a session isn't restricted, and neither are people
    return whose != "outside" or slot.noun not in {"company", "label"}


@EACH
def test_unreachable_id_looks_like_an_unknown_id(crowd: Crowd, declared: Operation) -> None:
    """`foreign`: a company that the owner isn't in. `outside`: a project that the token isn't let into, though its
    owner sees it. `beside`: another company of the owner's, which the token isn't pinned to; `away`: the same, for
    a token that is pinned to projects too.
    """
    arguments = crowd.arguments(declared)
    with expect_no_change(crowd) as trying:
        for slot in slots(declared):
            for whose in (each for each in ("foreign", "outside", "beside", "away") if reach(declared, slot, each)):
                for noun in ("ticket", "ticket_key") if slot.noun == "ticket" else (slot.noun,):
                    with trying(f"{whose} {slot.field}, {noun}"):
                        _out_of_reach(crowd, declared, arguments, slot, whose, noun)


def _out_of_reach(crowd: Crowd, declared: Operation, arguments: Arguments, slot: Slot, whose: str, noun: str) -> None:
    headers = bearer(crowd.token if whose in {"foreign", "beside"} else crowd.kept)
    if declared.scope is Access.SESSION:
        headers = cookie(crowd, crowd.owner.session)
    theirs, never = crowd.ids[whose][noun], NEVER[noun]
    answer = crowd.call(declared, with_id(declared, arguments, slot, theirs), headers)
    nothing = crowd.call(declared, with_id(declared, arguments, slot, never), headers)
    seen = outcome(answer)
    assert seen == find_expected_error(declared, slot, whose)
    if seen[1] in {"forbidden", "cross_company_move"}:
        assert outcome(nothing)[1] == "not_found"
    else:
        assert answer.status_code == nothing.status_code
        assert answer.text.replace(theirs, never) == nothing.text


def outcome(answer: httpx.Response) -> tuple[int, str]:
    """The status, and the code of the refusal: of the whole call, or of the one ticket of a bulk call."""
    if answer.headers.get("content-type", "").startswith("text/csv"):
        return answer.status_code, "empty" if len(answer.text.splitlines()) == 1 else "full"
    body = answer.json()
    if body is None:
        return answer.status_code, "empty"
    if "results" in body:
        (result,) = body["results"]
        return result["error"]["status"], result["error"]["code"]
    if answer.is_success:
        return answer.status_code, "empty" if body["items"] == [] else "full"
    return answer.status_code, is_problem(answer, answer.status_code, body["code"])["code"]


FILTERS = {
    "list_tickets", "list_projects", "list_work_sessions", "list_views", "search", "export_tickets", "export_search",
}  # fmt: skip


def find_expected_error(declared: Operation, slot: Slot, whose: str) -> tuple[int, str]:
    """The error that docs/use/tokens.md documents."""
    if declared.name in FILTERS:
        return 200, "empty"
    if declared.name == "claim_next_ticket" and slot.noun == "user":
        return 200, "empty"
    if declared.name in {"move_ticket", "bulk_move_tickets"} and slot.noun == "column" and whose != "outside":
        return 403, "cross_company_move"
    if declared.name == "move_ticket" and slot.field in {"before", "after"}:
        return 400, "invalid_request"
    if declared.writes and whose != "foreign":
        return 403, "forbidden"
    return 404, "not_found"


@EACH
def test_token_in_the_query_is_rejected_before_routing(crowd: Crowd, declared: Operation) -> None:
    request = build_request(crowd.client, declared, crowd.arguments(declared))
    url = request.url.copy_merge_params({"access_token": crowd.token})
    headers = {**request.headers, "x-forwarded-for": draw_address(), "Authorization": f"Bearer {crowd.token}"}
    with expect_no_change(crowd):
        answer = crowd.client.send(httpx.Request(request.method, url, headers=headers, content=request.read()))
        is_problem(answer, 401, "unauthorized")


def is_problem(answer: httpx.Response, status: int, code: str) -> dict[str, Any]:
    """The problem document, which carries what every answer carries."""
    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    check_common_headers(answer)
    return answer.json()


class expect_no_change:
    """Fail if the block changes any row of any table or records an event.

    Several attempts may be made inside, each in `with trying("what")`; all failures are reported together.
    """

    def __init__(self, crowd: Crowd) -> None:
        self.db = crowd.box.db
        self.wrong: list[str] = []

    def __enter__(self) -> Callable[[str], contextlib.AbstractContextManager[None]]:
        self.before = read_contents(self.db)
        return self.trying

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            after = read_contents(self.db)
            self.wrong += [
                f"{table} changed" for table in after if after[table] != self.before[table] and table not in EMPTIED
            ]
            assert self.wrong == []

    @contextlib.contextmanager
    def trying(self, what: str) -> Iterator[None]:
        """One attempt; its failure is reported at the end."""
        try:
            yield
        except (AssertionError, KeyError, ValueError) as error:
            self.wrong.append(f"{what}: {error}")


class Loose(msgspec.Struct):
    """Takes unknown fields, as an operation's arguments must not."""


class Strict(msgspec.Struct, forbid_unknown_fields=True):
    """As it should be."""


def nothing(tx: Read, actor: Actor, args: Strict) -> None:
    """Do nothing."""


def careless(tx: Read, actor: Actor, args: Loose) -> None:
    """Do nothing."""


def test_operation_without_a_scope_cannot_be_declared() -> None:
    with pytest.raises(TypeError, match="scope"):
        operation("unguarded", budget=Budget.READ)(nothing)  # type: ignore[call-arg]
    with pytest.raises(KeyError):
        load_registry()["unguarded"]


@pytest.mark.parametrize("scope", [None, "read", "tickets:write", True])
def test_operation_with_an_invalid_scope_cannot_be_declared(scope: object) -> None:
    with pytest.raises(TypeError, match="scope"):
        operation("unguarded", scope=scope, budget=Budget.READ)(nothing)  # type: ignore[arg-type]
    with pytest.raises(KeyError):
        load_registry()["unguarded"]


def test_operation_that_allows_unknown_fields_cannot_be_declared() -> None:
    with pytest.raises(TypeError, match="must forbid unknown fields"):
        operation("careless", scope=Scope.READ, budget=Budget.READ)(careless)
    with pytest.raises(KeyError):
        load_registry()["careless"]
