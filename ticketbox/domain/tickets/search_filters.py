"""The filters of the search language: their keys and values (docs/use/search.md, "Filters").

`search_query` parses queries by this list, and the web app completes them from it.
"""

from enum import StrEnum

import msgspec

from ticketbox.domain.tickets.records import Priority, Status


class TextField(StrEnum):
    """The field that a text is searched in."""

    ANYWHERE = "anywhere"
    TITLE = "title"
    ERROR = "error"
    PAGE = "page"
    BRANCH = "branch"


class Facet(StrEnum):
    """A property that a ticket has or doesn't have."""

    STATUS = "status"
    IS = "is"
    HAS = "has"
    PRIORITY = "priority"
    LABEL = "label"
    ASSIGNEE = "assignee"
    PROJECT = "project"
    COLUMN = "column"


class TimeField(StrEnum):
    """A time of a ticket."""

    CREATED = "created"
    UPDATED = "updated"
    DUE = "due"


class ValueKind(StrEnum):
    """The kind of a filter's value."""

    WORDS = "words"
    VALUE = "value"
    LABEL = "label"
    PERSON = "person"
    PROJECT = "project"
    COLUMN = "column"
    TIME = "time"


class SearchFilter(msgspec.Struct, frozen=True):
    """A filter. `values` are all its values, or for a person and a time those with a fixed meaning."""

    key: str
    about: str
    takes: ValueKind
    values: tuple[str, ...] = ()


_AGES = ("today", "yesterday", ">7d", ">30d", ">90d")
# In the order in which they are offered.
FILTERS = (
    SearchFilter(
        Facet.IS, "State", ValueKind.VALUE, ("open", "resolved", "active", "archived", "assigned", "unassigned")
    ),
    SearchFilter(Facet.ASSIGNEE, "Who it is assigned to", ValueKind.PERSON, ("me", "none")),
    SearchFilter(Facet.LABEL, "Label", ValueKind.LABEL),
    SearchFilter(Facet.PRIORITY, "Priority", ValueKind.VALUE, tuple(Priority)),
    SearchFilter(Facet.PROJECT, "Project", ValueKind.PROJECT),
    SearchFilter(Facet.COLUMN, "Column", ValueKind.COLUMN),
    SearchFilter(Facet.STATUS, "On the board, archived or both", ValueKind.VALUE, (*Status, "all")),
    SearchFilter(
        Facet.HAS, "What comes with it", ValueKind.VALUE, ("capture", "comments", "attachment", "errors", "branch")
    ),
    SearchFilter(TimeField.CREATED, "When it was created", ValueKind.TIME, _AGES),
    SearchFilter(TimeField.UPDATED, "When it last changed", ValueKind.TIME, _AGES),
    SearchFilter(TimeField.DUE, "When it is due", ValueKind.TIME, ("today", "tomorrow", "<today")),
    SearchFilter(TextField.TITLE, "Word in the title", ValueKind.WORDS),
    SearchFilter(TextField.ERROR, "Word in an error", ValueKind.WORDS),
    SearchFilter(TextField.PAGE, "Word in the page's address", ValueKind.WORDS),
    SearchFilter(TextField.BRANCH, "Word in the git branch", ValueKind.WORDS),
)
KEYS = tuple(sorted(each.key for each in FILTERS))
