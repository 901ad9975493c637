"""A failure that is an answer of the server: a run asks the server at BASE_URL, never the recording."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.domain.captures.test_reproduction import build_recording
from tests.e2e.sites.counting_site import Page, serve_counting
from tests.support.playwright_test import run_test
from ticketbox.domain.captures.reproduction.pack import build_files
from ticketbox.domain.captures.reproduction.verdict import Observation

JSON = {"Content-Type": "application/json"}
SAVE = """<!doctype html><title>Notes</title><button>Save</button><script>
  document.querySelector('button').onclick = async () => {
    await fetch('/api/notes', { method: 'POST', body: '{"text": "a"}' });
    document.title = await (await fetch('/api/notes')).text();
  };
</script>"""
GRAPHQL = """<!doctype html><title>Notes</title><button>Save</button><script>
  const body = JSON.stringify({ operationName: 'Save', query: 'mutation Save { saved }' });
  document.querySelector('button').onclick = () => fetch('/graphql', { method: 'POST', body });
</script>"""
FAILED = (500, JSON, '{"error": "locked"}')


def build_call(number: int, method: str, path: str, status: int, **fields: Any) -> dict[str, Any]:
    return {
        "id": f"r{number}", "ts": 2_000 + number, "method": method, "url": f"https://shop.example{path}",
        "type": "fetch", "status": status, "duration_ms": 1, **fields,
    }  # fmt: skip


def record(network: list[dict[str, Any]]) -> list[Any]:
    """Build the pack of a capture in which a click on “Save” led to calls."""
    actions = [
        {"kind": "navigate", "url": "https://shop.example/", "ts": 1_000},
        {"kind": "click", "target": {"role": "button", "name": "Save"}, "ts": 2_000},
    ]
    return build_files(build_recording(actions=actions, network=network), "1")


def judge(
    files: list[Any], folder: Path, shell: str, pages: dict[str, Page | str]
) -> tuple[str, str | None, list[str]]:
    """Run a pack against a site; return the verdict, its reason, and the calls that reached the site."""
    for file in files:
        (folder / file.name).write_bytes(file.data)
    result = folder / "result.json"
    with serve_counting(pages) as site:
        run_test(folder / "reproduce.spec.ts", shell, BASE_URL=site.address, REPRODUCTION_RESULT=str(result))
    observed = msgspec.convert(json.loads(result.read_text()), Observation)
    calls = [each for each in site.seen if "api" in each or "graphql" in each]
    return observed.verdict.value, observed.reason, calls


NOTES = [
    build_call(1, "POST", "/api/notes", 500, response={"body": '{"error": "locked"}', "mime": "application/json"}),
    build_call(2, "GET", "/api/notes", 200, response={"body": "[]", "mime": "application/json"}),
]
NO_SERVER = "the failure is an answer of the server; start it at the base URL"


@pytest.mark.parametrize(
    ("answer", "verdict", "reason"),
    [
        pytest.param(FAILED, "reproduced", None, marks=pytest.mark.long),
        ((200, JSON, "{}"), "gone", None),
        pytest.param((409, JSON, "{}"), "different_error", "the server answered POST /api/notes with 409, not 500",
                     marks=pytest.mark.long),
        pytest.param((401, JSON, "{}"), "not_reached",
                     "the server answered POST /api/notes with 401, because the run isn't signed in there",
                     marks=pytest.mark.long),
        ((404, {}, "nothing"), "not_reached", NO_SERVER),
        pytest.param((200, {}, SAVE), "not_reached", NO_SERVER, marks=pytest.mark.long),  # for every path
    ],
)  # fmt: skip
def test_server_says_whether_its_fault_is_gone(
    tmp_path: Path, shell: str, answer: Page, verdict: str, reason: str | None
) -> None:
    found = judge(record(NOTES), tmp_path, shell, {"/": SAVE, "/api/notes": answer})
    assert found[:2] == (verdict, reason)
    assert found[2][0] == 'POST /api/notes {"text": "a"}'


@pytest.mark.long
def test_what_depends_on_the_fault_is_live_and_the_rest_recorded(tmp_path: Path, shell: str) -> None:
    page = SAVE.replace("<script>", "<script>fetch('/api/me');")
    network = [build_call(-900, "GET", "/api/me", 200, response={"body": "{}"}), *NOTES]
    _, _, calls = judge(record(network), tmp_path, shell, {"/": page, "/api/notes": (200, JSON, "[1]")})
    assert calls == ['POST /api/notes {"text": "a"}', "GET /api/notes"]


FORM = """<!doctype html><title>Order</title><form action="/orders" method="post"><button>Save</button></form>"""
SIGN_IN = """<!doctype html><title>Sign in</title><input type="password">"""


@pytest.mark.parametrize("late", [100, 900])  # when the failed page is opened: before its answer has ended, and after
@pytest.mark.parametrize(
    ("answer", "verdict", "reason"),
    [
        ((303, {"Location": "/"}, ""), "gone", None),
        pytest.param((303, {"Location": "/sign-in"}, ""), "not_reached",
                     "the page is /sign-in, which asks for a password", marks=pytest.mark.long),
        pytest.param((500, {}, "Server error"), "reproduced", None, marks=pytest.mark.long),
    ],
)  # fmt: skip
def test_form_that_the_server_answers_may_lead_elsewhere(
    tmp_path: Path, shell: str, answer: Page, verdict: str, reason: str | None, late: int
) -> None:
    actions = [
        {"kind": "navigate", "url": "https://shop.example/", "ts": 1_000},
        {"kind": "click", "target": {"role": "button", "name": "Save"}, "ts": 2_000},
        {"kind": "submit", "target": {"role": "form"}, "ts": 2_001},
        {"kind": "navigate", "url": "https://shop.example/orders", "ts": 2_000 + late},
    ]
    failed = build_call(1, "POST", "/orders", 500, type="document", duration_ms=500)
    files = build_files(build_recording(actions=actions, network=[failed]), "1")
    pages: dict[str, Page | str] = {"/": FORM, "/orders": answer, "/sign-in": SIGN_IN}
    assert judge(files, tmp_path, shell, pages)[:2] == (verdict, reason)


@pytest.mark.long
def test_step_that_another_page_does_not_have_says_which_page_it_is(tmp_path: Path, shell: str) -> None:
    pages: dict[str, Page | str] = {"/": (303, {"Location": "/sign-in"}, ""), "/sign-in": SIGN_IN}
    assert judge(record(NOTES), tmp_path, shell, pages)[:2] == ("not_reached", "the page is /sign-in, not /")


@pytest.mark.long
def test_errors_of_graphql_are_a_fault_of_the_server(tmp_path: Path, shell: str) -> None:
    failed = '{"data": null, "errors": [{"message": "locked"}]}'
    sent = '{"operationName": "Save", "query": "mutation Save { saved }"}'
    call = build_call(1, "POST", "/graphql", 200, error="GraphQL errors (Save)", request={"body": sent},
                      response={"body": failed, "mime": "application/json"})  # fmt: skip
    for answer, verdict in ((failed, "reproduced"), ('{"data": {"saved": true}}', "gone")):
        pages: dict[str, Page | str] = {"/": GRAPHQL, "/graphql": (200, JSON, answer)}
        assert judge(record([call]), tmp_path, shell, pages)[0] == verdict
