"""Which answers of the server are the bug, or led to it: a run asks the server for them, not the recording."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast
from urllib.parse import urlsplit

import msgspec

from ticketbox.domain.captures.capture import NetworkEntry
from ticketbox.domain.captures.expectations import Aspect, fold_spaces
from ticketbox.domain.captures.records import Expectation
from ticketbox.domain.captures.reproduction.bug import Bug
from ticketbox.domain.captures.reproduction.moments import API_TYPES
from ticketbox.domain.captures.streams import GRAPHQL_ERRORS

# what an element or the page shows as it is in an answer
_SHOWN = {Aspect.TEXT, Aspect.VALUE, Aspect.ATTRIBUTE, Aspect.TITLE}


def find_faults(
    bug: Bug | None, network: Iterable[NetworkEntry], page_url: str, acted_at: float | None
) -> list[NetworkEntry]:
    """Find the answers of the application's own site that are the bug, or came between the last step and it.

    Those that led to an error of the page count only if the server says that the fault is its own.
    """
    if bug is None:
        return []
    if isinstance(bug.entry, NetworkEntry):
        entry = bug.entry
        return [entry] if entry.type in API_TYPES and _name_site(entry.url) == _name_site(page_url) else []
    return [
        each
        for each in network
        if each.type in API_TYPES
        and is_fault_of_server(each)
        and (acted_at or 0) <= each.ts + (each.duration_ms or 0) <= bug.at
        and _name_site(each.url) == _name_site(page_url)
    ]


def find_wrong_answers(
    states: Sequence[Expectation], network: Iterable[NetworkEntry], page_url: str
) -> list[NetworkEntry]:
    """Find the answers of the application's own site that have a wrong text which the page only shows.

    A text that people expect in its place and that an answer has, too, was there for the page to choose. Numbers don't
    count: what a page computes is often in an answer with another meaning.
    """
    wrong = [each for each in states if each.is_ in _SHOWN and each.seen and any(map(str.isalpha, each.seen))]
    if not wrong:
        return []
    own = [each for each in network if each.type in API_TYPES and _name_site(each.url) == _name_site(page_url)]
    answers = [(each, _list_texts(each)) for each in own]
    known = {text for _, texts in answers for text in texts}
    sought = {fold_spaces(each.seen or "") for each in wrong if fold_spaces(each.right or "") not in known}
    return [each for each, texts in answers if texts & sought]


def _list_texts(entry: NetworkEntry) -> set[str]:
    try:
        content = msgspec.json.decode(entry.response.body or "")
    except msgspec.DecodeError:
        return set()
    return {fold_spaces(text) for text in _iterate_texts(content)} - {""}


def _iterate_texts(content: Any) -> Iterator[str]:
    waiting = [content]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, dict):
            waiting.extend(cast(dict[str, Any], each).values())
        elif isinstance(each, list):
            waiting.extend(cast(list[Any], each))


def needs_server(bug: Bug | None, faults: list[NetworkEntry]) -> bool:
    """Whether only the server can say that the bug is still there: it is an answer that says so itself."""
    return bug is not None and isinstance(bug.entry, NetworkEntry) and any(map(is_fault_of_server, faults))


def is_fault_of_server(entry: NetworkEntry) -> bool:
    """Whether an answer says that the server failed, rather than that it was asked for the wrong thing."""
    return (entry.status or 0) >= 500 or (entry.error or "").startswith(GRAPHQL_ERRORS)


def _name_site(url: str) -> str | None:
    """Return the last two parts of a host, which an application and its API share."""
    try:
        host = urlsplit(url).hostname
    except ValueError:
        return None
    return host and ".".join(host.split(".")[-2:])
