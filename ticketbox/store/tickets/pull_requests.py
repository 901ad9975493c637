"""The newest open pull request of each ticket of a list."""

import msgspec

from ticketbox.domain.tickets.records import PullRequest
from ticketbox.store.file.database import Read

LONGEST_NAME = 40


class _Link(msgspec.Struct, frozen=True):
    """A link that a work session reported."""

    kind: str
    url: str
    state: str | None


_links = msgspec.json.Decoder(list[_Link])

SELECT_LINKS_OF_HOOKS = """
SELECT g.ticket_id, g.name, g.url, g.state FROM json_each(?) k CROSS JOIN git_link g ON g.ticket_id = k.value
WHERE g.kind = 'pull_request' ORDER BY g.changed_at, g.id
"""
# Of the last session that reported links, if it is one of the ticket's newest five.
SELECT_LINKS_OF_SESSIONS = """
SELECT w.ticket_id, w.links FROM json_each(?) k CROSS JOIN work_session w ON w.id = (
  SELECT n.id FROM (
    SELECT s.id, s.links FROM work_session s WHERE s.ticket_id = k.value ORDER BY s.id DESC LIMIT 5) n
  WHERE n.links <> '[]' LIMIT 1)
"""


def list_pull_requests(tx: Read, keys: list[int]) -> dict[int, PullRequest]:
    """List the newest open pull request of each ticket; tickets without one are left out.

    What a git hook reported comes first. What a work session reported is left out if a hook knows better.
    """
    if not keys:
        return {}
    given = (msgspec.json.encode(keys).decode(),)
    known: set[tuple[int, str]] = set()
    of_hooks: dict[int, PullRequest] = {}
    for key, name, url, state in tx.fetch_all(SELECT_LINKS_OF_HOOKS, given):
        known.add((key, url))
        if state == "open":
            of_hooks[key] = PullRequest(name, url)
    found: dict[int, PullRequest] = {}
    for key, links in tx.fetch_all(SELECT_LINKS_OF_SESSIONS, given):
        for link in _links.decode(links):
            is_open = link.kind == "pull_request" and (link.state or "").lower() not in {"merged", "closed"}
            if is_open and (key, link.url.rstrip("/")) not in known:
                found[key] = PullRequest(_name(link.url), link.url)
    return found | of_hooks


def _name(url: str) -> str:
    """Name a pull request as its address ends: `#7`, or `!7` on GitLab."""
    last = url.rstrip("/").rpartition("/")[2][:LONGEST_NAME]
    sign = "!" if "/merge_requests/" in url else "#"
    return sign + last if last.isdecimal() else last
