"""The envelopes that a running server reads: nearly right ones are answered or refused, and nothing breaks inside."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.mutations import AWKWARD, mutate_samples
from tests.support.long_runs import Record, choose_rounds, hypothesis_settings
from tests.support.mcp_client import ACCEPT, NEWEST
from tests.support.operation_cases import Stage, capture_arguments, draw_address, open_stage
from tests.support.server import Box

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def stage(box: Box) -> Iterator[Stage]:
    """A company whose budget has room for many inputs."""
    with open_stage(box) as stage:
        yield stage


def message(stage: Stage) -> st.SearchStrategy[tuple[str, dict[str, str], bytes]]:
    """An MCP message, of either generation."""
    said = st.sampled_from([ACCEPT, {**ACCEPT, "Mcp-Protocol-Version": NEWEST, "Mcp-Method": "tools/call"}, JSON])
    return st.tuples(st.just(f"{stage.box.url}/mcp"), said.map(lambda each: {**JSON, **each}), mutate_samples("mcp"))


def form(stage: Stage) -> st.SearchStrategy[tuple[str, dict[str, str], bytes]]:
    """What an app sends to the OAuth endpoints."""
    paths = [f"{stage.box.url}/oauth/{name}" for name in ("token", "revoke", "register", "authorize")]
    return st.tuples(st.sampled_from(paths), st.sampled_from([FORM, JSON]), mutate_samples("oauth"))


def upload(stage: Stage) -> st.SearchStrategy[tuple[str, dict[str, str], bytes]]:
    """A capture's multipart body: parts that may be anything, in a frame that may be broken."""
    given = capture_arguments(stage.project)
    whole = httpx.Request("POST", "http://x", files={"capture": b"{}", "console": given["console"], "screenshot": b"x"})
    body, boundary = whole.read(), whole.headers["content-type"].partition("=")[2]
    cut = st.tuples(st.integers(0, len(body)), st.sampled_from(AWKWARD)).map(lambda at: body[: at[0]] + at[1])
    bodies = st.one_of(cut, st.tuples(cut, st.just(body)).map(b"".join))
    kinds = st.sampled_from([boundary, "x", '"', boundary + '; charset="'])
    return st.tuples(
        st.just(f"{stage.box.api}/captures"),
        kinds.map(lambda each: {"Content-Type": f"multipart/form-data; boundary={each}"}),
        bodies,
    )


def hook(stage: Stage) -> st.SearchStrategy[tuple[str, dict[str, str], bytes]]:
    """A webhook's address, and with it any JSON body of an operation."""
    body = mutate_samples("address").map(lambda data: b'{"name":"H","url":"' + data + b'"}')
    return st.tuples(st.just(f"{stage.box.api}/companies/{stage.company}/webhooks"), st.just(JSON), body)


def line(stage: Stage) -> st.SearchStrategy[tuple[str, dict[str, str], bytes]]:
    """A search, as a query of an address."""
    asked = mutate_samples("query").map(
        lambda data: str(httpx.URL(f"{stage.box.api}/search", params={"q": data[:4_000]}))
    )
    return st.tuples(asked, st.just({}), st.just(b""))


KINDS = {"mcp": message, "oauth": form, "upload": upload, "webhook": hook, "search": line}


def feed(stage: Stage, kind: str, inputs: int) -> dict[str, Any]:
    """Send inputs; how many were sent, and how many were refused."""
    counts = {"inputs": 0, "refused": 0}
    mark = stage.box.log_size()
    client = httpx.Client(timeout=30, verify=False)

    @hypothesis_settings(inputs)
    @given(KINDS[kind](stage))
    def one(sent: tuple[str, dict[str, str], bytes]) -> None:
        url, headers, body = sent
        carried = {"X-Forwarded-For": draw_address(), **headers}
        if kind == "webhook":
            if counts["inputs"] % 300 == 299:  # a session has 600 writes a minute, which no company's limits raise
                stage.owner.begin_session()
            carried |= {"Cookie": f"{stage.box.cookie}={stage.owner.session}", "Origin": stage.box.url}
        elif kind != "oauth":
            carried["Authorization"] = stage.api.headers["Authorization"]
        answer = client.request("GET" if kind == "search" else "POST", url, headers=carried, content=body)
        counts["inputs"] += 1
        counts["refused"] += answer.status_code >= 400
        assert answer.status_code < 500, f"{urlsplit(url).path} {headers} {body[:500]!r}: {answer.text}"
        assert answer.status_code != 429

    with client:
        one()
    assert "Traceback" not in stage.box.log_after(mark)
    return counts


@pytest.mark.parametrize("kind", KINDS)
def test_malformed_envelopes_break_nothing(stage: Stage, kind: str) -> None:
    counts = feed(stage, kind, 60)
    assert counts["refused"] > 0


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_many_malformed_envelopes_break_nothing(stage: Stage, kind: str, record_property: Record) -> None:
    for name, figure in feed(stage, kind, choose_rounds(300, 1_000)).items():
        record_property(name, figure)
