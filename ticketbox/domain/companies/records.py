"""Companies, projects, columns and members, as every surface shows them. Outputs have no defaults."""

from enum import StrEnum

import msgspec

from ticketbox.domain.core.access.scopes import RoleName
from ticketbox.domain.core.records import By, Time


class Limits(msgspec.Struct, frozen=True):
    """A company's limits; null means the default (600 reads, 60 writes a minute)."""

    reads_per_minute: int | None
    writes_per_minute: int | None


class Storage(msgspec.Struct, frozen=True):
    """How many bytes a company's captures and attachments take, as they are stored, and how many they may take.

    A `max_bytes` of null means that only the server's disk limits them.
    """

    bytes: int
    max_bytes: int | None


class Company(msgspec.Struct, frozen=True):
    """A company, with the caller's role in it."""

    id: str
    name: str
    limits: Limits
    storage: Storage
    second_factor_required: bool
    role: RoleName
    created: By


class Bodies(StrEnum):
    """Whether captures may carry request and response bodies, and with which values."""

    OFF = "off"
    SHAPE = "shape"
    ON = "on"


class Actions(StrEnum):
    """Whether captures may carry what the person did on the page."""

    OFF = "off"
    ON = "on"


class PageSourceMaps(StrEnum):
    """Whether the extension resolves stacks with the source maps that the page can load."""

    OFF = "off"
    ON = "on"


class PageStorage(StrEnum):
    """What captures may carry of a page's storage: nothing, names, or also stand-ins of the values at the beginning."""

    OFF = "off"
    NAMES = "names"
    SHAPE = "shape"


REPLAY_SECONDS = (0, 30, 60, 120)
DEFAULT_REPLAY_SECONDS = 30


class CapturePolicy(msgspec.Struct, frozen=True):
    """What the extension may collect on a project's pages, and additional redactions.

    `replay` is how many seconds of the page's changes are kept; 0 is off. What matches `mask_selectors`, CSS selectors,
    is never shown or named by what is recorded. `page_source_maps` is whether the extension resolves stacks with the
    maps that the page itself can load. `declared_names` are global variables (`app.flags`) and meta elements
    (`meta:build`) whose values are collected besides the usual ones.
    """

    bodies: Bodies
    extra_redactions: list[str]
    actions: Actions
    replay: int
    mask_selectors: list[str]
    page_source_maps: PageSourceMaps
    declared_names: list[str]
    storage: PageStorage


class Project(msgspec.Struct, frozen=True):
    """A project: one board. The extension picks it by `url_patterns`, globs on the page address.

    `key` begins the keys of its tickets, such as WEB-42; keys that begin with one of `former_keys` still work.
    `plan_approval`, `done_approval`, `verification` and `criteria` are gates for agents. `verifiers` are the ids of the
    members and tokens whose verifications and evidence count for the last two; everybody's, if it is empty.
    """

    id: str
    company_id: str
    name: str
    key: str
    former_keys: list[str]
    url_patterns: list[str]
    capture_policy: CapturePolicy
    agent_label: str
    plan_approval: bool
    done_approval: bool
    verification: bool
    criteria: bool
    verifiers: list[str]
    created: By


class ColumnKind(StrEnum):
    """What a column means for the tickets in it. Those in a column of kind `done` are resolved."""

    TODO = "todo"
    DOING = "doing"
    DONE = "done"


_DONE_NAMES = {"done", "closed", "resolved", "fixed"}


def derive_column_kind(name: str) -> ColumnKind:
    """Derive the kind of a new column from its name: `done` for Done, Closed, Resolved and Fixed, else `doing`."""
    return ColumnKind.DONE if name.strip().lower() in _DONE_NAMES else ColumnKind.DOING


class Column(msgspec.Struct, frozen=True):
    """A column of a project's board; `position` counts from 0."""

    id: str
    project_id: str
    name: str
    position: int
    kind: ColumnKind


class Member(msgspec.Struct, frozen=True):
    """A user's membership of a company; `project_ids` null means all projects.

    Only owners see whether a member has no second factor; for others, `second_factor_missing` is null.
    """

    id: str
    name: str
    email: str
    role: RoleName
    project_ids: list[str] | None
    second_factor_missing: bool | None


class Invitation(msgspec.Struct, frozen=True):
    """An open invitation to a company."""

    id: str
    company_id: str
    email: str | None
    role: RoleName
    project_ids: list[str] | None
    created: By
    expires_at: Time
