"""Long answers: encoded and sent in slices, so that the event loop serves others in between."""

import asyncio
import json
import types
from typing import Any

import msgspec
import pytest

from ticketbox.edge.responses import SLICE_BYTES, Answer, build_page_answer
from ticketbox.operations.catalogue import load_registry
from ticketbox.operations.core.paging import Page
from ticketbox.operations.core.schemas import list_answer_types


async def count_turns(work: Any) -> tuple[Any, int]:
    """Run something; return its result, and how often others got a turn of the loop meanwhile."""
    turns = 0
    done = False

    async def count() -> None:
        nonlocal turns
        while not done:
            turns += 1
            await asyncio.sleep(0)

    other = asyncio.create_task(count())
    result = await work
    done = True
    await other
    return result, turns


async def send_answer(answer: Answer, method: str = "GET") -> tuple[dict[bytes, bytes], list[bytes]]:
    """The headers of an answer, and the parts of its body."""
    messages: list[dict[str, Any]] = []

    async def send(message: Any) -> None:
        messages.append(message)

    await answer({"type": "http", "method": method}, None, send)  # type: ignore[arg-type]
    start, *parts = messages
    assert [part.get("more_body", False) for part in parts] == [True] * (len(parts) - 1) + [False]
    return dict(start["headers"]), [part["body"] for part in parts]


@pytest.mark.parametrize("items", [[], ["one"], ["x" * 1000] * 100, ["ü" * SLICE_BYTES, "[]"] * 30])
def test_page_in_slices_is_the_same_as_in_one_piece(items: list[str]) -> None:
    page = Page(items, "next []")

    async def run() -> tuple[dict[bytes, bytes], list[bytes]]:
        return await send_answer(await build_page_answer(page))

    headers, parts = asyncio.run(run())
    whole = b"".join(parts)
    assert whole == msgspec.json.encode(page)
    assert headers[b"content-length"] == str(len(whole)).encode()
    assert json.loads(whole)["items"] == items


def test_others_get_a_turn_after_every_slice() -> None:
    page = Page(["x" * 16_000] * 500, None)
    slices = 500 * 16_000 // (SLICE_BYTES + 16_000)

    async def run() -> tuple[int, int, int]:
        answer, encoding = await count_turns(build_page_answer(page))
        (_, parts), sending = await count_turns(send_answer(answer))
        return encoding, sending, max(map(len, parts))

    encoding, sending, longest = asyncio.run(run())
    assert encoding >= slices
    assert sending >= slices
    assert longest <= SLICE_BYTES + 16_100


def test_head_of_a_long_page_has_its_length_and_no_body() -> None:
    async def run() -> tuple[dict[bytes, bytes], list[bytes]]:
        return await send_answer(await build_page_answer(Page(["x" * 16_000] * 20, None)), "HEAD")

    headers, parts = asyncio.run(run())
    assert int(headers[b"content-length"]) > 320_000
    assert parts == [b""]


def test_items_are_the_first_field_of_every_page() -> None:
    """The encoder of long answers puts the items where the first list of the page is."""
    pages = {
        kind
        for operation in load_registry()
        for kind in list_answer_types(operation)
        if kind is not types.NoneType and "items" in getattr(kind, "__struct_fields__", ())
    }
    fields = {getattr(kind, "__origin__", kind).__struct_fields__[0] for kind in pages}
    assert fields == {"items"}
