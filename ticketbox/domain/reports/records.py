"""Reports of people without an account, as every surface shows them (docs/use/reports.md). Outputs have no defaults."""

from enum import StrEnum

import msgspec

from ticketbox.domain.core.records import By, Time


class ReportKind(StrEnum):
    """Where people report: on a page that loads the script, or at the address of a link."""

    SCRIPT = "script"
    LINK = "link"


class ReportState(StrEnum):
    """What the reporter learns about the report: the kind of its ticket's column."""

    RECEIVED = "received"
    IN_PROGRESS = "in_progress"
    DONE = "done"
    CLOSED = "closed"


class ReportKey(msgspec.Struct, frozen=True):
    """A public key that lets people without an account report to a project, and do nothing else.

    `url` is the address of a link, null for a script. `last_report` is when somebody reported last.
    `old_key_until` is until when the former key is valid. `has_identity_secret` says whether identities can be signed,
    `old_identity_secret_until` until when the old secret is accepted.
    """

    id: str
    project_id: str
    kind: ReportKind
    name: str
    key: str
    url: str | None
    origins: list[str]
    enabled: bool
    per_minute: int
    per_day: int
    last_report: Time | None
    old_key_until: Time | None
    has_identity_secret: bool
    old_identity_secret_until: Time | None
    created: By


class Reporter(msgspec.Struct, frozen=True):
    """Who reported a ticket. `key_id` is null after the key was deleted.

    If `verified`, the site where they reported signed who they are, and `user_id` is their id there. If not, the name
    and the email address are as they wrote them, and nobody has checked them.
    """

    ticket_id: str
    key_id: str | None
    name: str
    email: str
    user_id: str | None
    verified: bool
    reported: Time


class ReportStatus(msgspec.Struct, frozen=True):
    """What the reporter sees: the title that they gave, the state of the ticket, and when they reported it."""

    title: str
    state: ReportState
    reported: Time
