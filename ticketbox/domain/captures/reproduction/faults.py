"""Which answers of the server are the bug, or led to it: a run asks the server for them, not the recording."""

from collections.abc import Iterable
from urllib.parse import urlsplit

from ticketbox.domain.captures.capture import NetworkEntry
from ticketbox.domain.captures.reproduction.bug import Bug
from ticketbox.domain.captures.reproduction.moments import API_TYPES
from ticketbox.domain.captures.streams import GRAPHQL_ERRORS


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
