"""The filters of the language of search: their keys and what each takes (docs/use/search.md, "Filters").

`domain/tickets/search_query.py` reads queries by this list, and the web app completes them from it.
"""

from enum import StrEnum

import msgspec

from ticketbox.domain.tickets.records import Priority, Status


class Place(StrEnum):
    """Where a text is looked for."""

    ANYWHERE = "anywhere"
    TITLE = "title"
    ERROR = "error"
    PAGE = "page"
    BRANCH = "branch"


class Facet(StrEnum):
    """What a ticket either has or hasn't."""

    STATUS = "status"
    IS = "is"
    HAS = "has"
    PRIORITY = "priority"
    LABEL = "label"
    ASSIGNEE = "assignee"
    PROJECT = "project"
    COLUMN = "column"


class Moment(StrEnum):
    """A time that every ticket has."""

    CREATED = "created"
    UPDATED = "updated"


class Takes(StrEnum):
    """What stands after a filter's colon."""

    WORDS = "words"
    VALUE = "value"
    LABEL = "label"
    PERSON = "person"
    PROJECT = "project"
    COLUMN = "column"
    TIME = "time"


class Filter(msgspec.Struct, frozen=True):
    """A key of the language. `values` are all that it takes, or of a person and a time those with a fixed meaning."""

    key: str
    about: str
    takes: Takes
    values: tuple[str, ...] = ()


_AGES = ("today", "yesterday", ">7d", ">30d", ">90d")
# In the order in which they are offered.
FILTERS = (
    Filter(Facet.IS, "State", Takes.VALUE, ("open", "resolved", "active", "archived", "assigned", "unassigned")),
    Filter(Facet.ASSIGNEE, "Who it is assigned to", Takes.PERSON, ("me", "none")),
    Filter(Facet.LABEL, "Label", Takes.LABEL),
    Filter(Facet.PRIORITY, "Priority", Takes.VALUE, tuple(Priority)),
    Filter(Facet.PROJECT, "Project", Takes.PROJECT),
    Filter(Facet.COLUMN, "Column", Takes.COLUMN),
    Filter(Facet.STATUS, "On the board, archived or both", Takes.VALUE, (*Status, "all")),
    Filter(Facet.HAS, "What comes with it", Takes.VALUE, ("capture", "comments", "attachment", "errors", "branch")),
    Filter(Moment.CREATED, "When it was made", Takes.TIME, _AGES),
    Filter(Moment.UPDATED, "When it last changed", Takes.TIME, _AGES),
    Filter(Place.TITLE, "Word in the title", Takes.WORDS),
    Filter(Place.ERROR, "Word in an error", Takes.WORDS),
    Filter(Place.PAGE, "Word in the page's address", Takes.WORDS),
    Filter(Place.BRANCH, "Word in the git branch", Takes.WORDS),
)
KEYS = tuple(sorted(each.key for each in FILTERS))
