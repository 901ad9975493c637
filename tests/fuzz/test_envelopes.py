"""The envelopes that a running server reads: nearly right ones are answered or refused, and nothing breaks inside."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.box import World, serving
from tests.contract.agents import ACCEPT, NEWEST
from tests.contract.cases import address, capture_arguments
from tests.fuzz.mutations import AWKWARD, mutated
from tests.times import TIMES, Record, unhurried

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A server of its own, whose log is looked at in the end."""
    with serving(tmp_path_factory.mktemp("envelopes"), "--trusted-proxy", "127.0.0.1/32") as box:
        made = World(box)
        limits = {"reads_per_minute": 1_000_000, "writes_per_minute": 1_000_000}
        made.owner.web.patch(f"/companies/{made.company}", json={"limits": limits})
        made.api = box.client(made.owner.token("tickets:write", "tickets:assign", company_id=made.company))
        yield made


def message(world: World) -> st.SearchStrategy[tuple[str, dict[str, str], bytes]]:
    """An MCP message, of either generation."""
    said = st.sampled_from([ACCEPT, {**ACCEPT, "Mcp-Protocol-Version": NEWEST, "Mcp-Method": "tools/call"}, JSON])
    return st.tuples(st.just(f"{world.box.url}/mcp"), said.map(lambda each: {**JSON, **each}), mutated("mcp"))


def form(world: World) -> st.SearchStrategy[tuple[str, dict[str, str], bytes]]:
    """What an app sends to the OAuth endpoints."""
    paths = [f"{world.box.url}/oauth/{name}" for name in ("token", "revoke", "register", "authorize")]
    return st.tuples(st.sampled_from(paths), st.sampled_from([FORM, JSON]), mutated("oauth"))


def upload(world: World) -> st.SearchStrategy[tuple[str, dict[str, str], bytes]]:
    """A capture's multipart body: parts that may be anything, in a frame that may be broken."""
    given = capture_arguments(world.project)
    whole = httpx.Request("POST", "http://x", files={"capture": b"{}", "console": given["console"], "screenshot": b"x"})
    body, boundary = whole.read(), whole.headers["content-type"].partition("=")[2]
    cut = st.tuples(st.integers(0, len(body)), st.sampled_from(AWKWARD)).map(lambda at: body[: at[0]] + at[1])
    bodies = st.one_of(cut, st.tuples(cut, st.just(body)).map(b"".join))
    kinds = st.sampled_from([boundary, "x", '"', boundary + '; charset="'])
    return st.tuples(
        st.just(f"{world.box.api}/captures"),
        kinds.map(lambda each: {"Content-Type": f"multipart/form-data; boundary={each}"}),
        bodies,
    )


def hook(world: World) -> st.SearchStrategy[tuple[str, dict[str, str], bytes]]:
    """A webhook's address, and with it any JSON body of an operation."""
    body = mutated("address").map(lambda data: b'{"name":"H","url":"' + data + b'"}')
    return st.tuples(st.just(f"{world.box.api}/companies/{world.company}/webhooks"), st.just(JSON), body)


def line(world: World) -> st.SearchStrategy[tuple[str, dict[str, str], bytes]]:
    """A search, as a query of an address."""
    asked = mutated("query").map(lambda data: str(httpx.URL(f"{world.box.api}/search", params={"q": data[:4_000]})))
    return st.tuples(asked, st.just({}), st.just(b""))


KINDS = {"mcp": message, "oauth": form, "upload": upload, "webhook": hook, "search": line}


def feed(world: World, kind: str, inputs: int) -> dict[str, Any]:
    """Send inputs; how many were sent, and how many were refused."""
    told = {"inputs": 0, "refused": 0}
    web = world.owner.web
    client = httpx.Client(timeout=30, verify=False)

    @unhurried(inputs)
    @given(KINDS[kind](world))
    def one(sent: tuple[str, dict[str, str], bytes]) -> None:
        url, headers, body = sent
        carried = {"X-Forwarded-For": address(), **headers}
        if kind == "webhook":
            if told["inputs"] % 300 == 299:  # a session has 600 writes a minute, which no company's limits raise
                world.owner.begin_session()
            carried |= {"Cookie": f"ticketbox={web.cookies['ticketbox']}", "Origin": world.box.url}
        elif kind != "oauth":
            carried["Authorization"] = world.api.headers["Authorization"]
        answer = client.request("GET" if kind == "search" else "POST", url, headers=carried, content=body)
        told["inputs"] += 1
        told["refused"] += answer.status_code >= 400
        assert answer.status_code < 500, f"{urlsplit(url).path} {headers} {body[:500]!r}: {answer.text}"
        assert answer.status_code != 429

    with client:
        one()
    assert "Traceback" not in world.box.log.read_text()
    return told


@pytest.mark.parametrize("kind", KINDS)
def test_a_nearly_right_envelope_breaks_nothing(world: World, kind: str) -> None:
    told = feed(world, kind, 60)
    assert told["refused"] > 0


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_very_many_nearly_right_envelopes_break_nothing(world: World, kind: str, record_property: Record) -> None:
    for name, figure in feed(world, kind, 1_000 * TIMES).items():
        record_property(name, figure)
