"""Recording events about companies, in the transaction of the change."""

from typing import Any

from ticketbox.domain.core.access.policy import Actor
from ticketbox.store.core import bylines
from ticketbox.store.events import events
from ticketbox.store.file.database import Write


def record_company_event(
    tx: Write,
    actor: Actor,
    type_: str,
    company: int,
    project: int | None = None,
    credential: int | None = None,
    **data: Any,
) -> None:
    """Record an event about a company, its projects, members or tokens."""
    byline = bylines.ensure_byline(tx, actor)
    events.record_event(tx, type_, byline, company, project, credential=credential, **data)
