"""Saved views of a project: filters, an order and how tickets are shown, under a name."""

from enum import StrEnum

import msgspec

from ticketbox.domain.core.records import By
from ticketbox.domain.tickets.fields import ViewFilters
from ticketbox.domain.tickets.records import Sort

MAX_VIEWS = 100  # of a project


class ViewLayout(StrEnum):
    """How a view shows its tickets."""

    BOARD = "board"
    TABLE = "table"


class ViewGroup(StrEnum):
    """What the groups of a table or the swimlanes of a board share. A ticket can be in several groups."""

    COLUMN = "column"
    PRIORITY = "priority"
    ASSIGNEE = "assignee"
    LABEL = "label"


class ViewField(StrEnum):
    """What cards and rows show besides the title."""

    PICTURE = "picture"
    KEY = "key"
    PRIORITY = "priority"
    ASSIGNEES = "assignees"
    EVIDENCE = "evidence"
    VERIFICATION = "verification"
    PULL_REQUEST = "pull_request"
    LABELS = "labels"
    DUE = "due"
    COMMENTS = "comments"
    AGENT = "agent"
    COLUMN = "column"
    CREATED = "created"
    UPDATED = "updated"


class ViewDensity(StrEnum):
    """How much space cards and rows take."""

    COMFORTABLE = "comfortable"
    COMPACT = "compact"


class ViewDefinition(msgspec.Struct, frozen=True):
    """What a view shows, and how. Null is the usual order, no groups, and the usual fields."""

    layout: ViewLayout
    filters: ViewFilters
    sort: Sort | None
    group: ViewGroup | None
    fields: list[ViewField] | None
    density: ViewDensity


class SavedView(ViewDefinition, frozen=True):
    """A view of a project's tickets. One that isn't shared is visible only to the person who created it."""

    id: str
    company_id: str
    project_id: str
    name: str
    shared: bool
    created: By
