"""Searching tickets by words and filters (docs/use/search.md)."""

from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.access.scopes import Scope
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.ids import TicketKey, is_foreign_address, parse_ticket_reference
from ticketbox.domain.core.patterns import match_whole
from ticketbox.domain.core.problems import InvalidRequest
from ticketbox.domain.tickets.records import Hit, Status
from ticketbox.domain.tickets.search_filters import FILTERS, Facet
from ticketbox.domain.tickets.search_query import FacetTerm, SearchQuery, build_term_error, parse_query
from ticketbox.operations.core.content import Content
from ticketbox.operations.core.lookups import CompanyId, ProjectId, list_ticket_candidates
from ticketbox.operations.core.names import check_labels, explain_empty_list, resolve_company_id, resolve_project_id
from ticketbox.operations.core.paging import Cursor, Limit, Page, build_page, decode_cursor
from ticketbox.operations.core.registry import Tool, operation
from ticketbox.operations.tickets.finding.lists import StatusFilter, TicketStatus, render_tickets
from ticketbox.store.file.database import Read
from ticketbox.store.tickets import records
from ticketbox.store.tickets.search import search as index
from ticketbox.store.tickets.search import search_scope
from ticketbox.store.tickets.search.search import IndexQuery
from ticketbox.store.tickets.search.search_scope import VisibleProject


class Search(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """`status:` or `is:archived` in the query overrides `status`."""

    q: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=500,
            description='Words, "a phrase", -excluded, prefix*, and filters: '
            + " ".join(f"{each.key}:" for each in FILTERS),
            examples=['"stays empty" label:checkout -is:resolved'],
        ),
        match_whole(r"[^\x00-\x1f\x7f]*"),
    ]
    company_id: CompanyId | None = None
    project_id: ProjectId | None = None
    status: TicketStatus = StatusFilter.ACTIVE
    typing: Annotated[bool, Meta(description="Whether to match the last word as a prefix, for search as you type.")] = (
        False
    )
    limit: Limit = 50
    cursor: Cursor | None = None


class Found(msgspec.Struct, frozen=True):
    """A page of results. `bounded` says that the search reached its time limit and may have missed tickets.

    An empty page has a `note` if a filter names something that the caller can't see.
    """

    items: list[Hit]
    next_cursor: str | None
    bounded: bool
    note: str | UnsetType = UNSET


@operation(
    "search",
    scope=Scope.READ,
    budget=Budget.READ,
    rest="GET /search",
    tool=Tool(
        "Search tickets",
        "Use this for words in titles, descriptions, comments, URLs and errors.",
        {"q": "cart error:TypeError -is:resolved created:>30d"},
        name="search_tickets",
        tool_set="core",
        unlisted=("company_id", "typing"),
    ),
)
def search(tx: Read, actor: Actor, args: Search) -> Found:
    """Search tickets by words and filters.

    Tickets with all words in their titles come first, then the others, each newest first.
    """
    return find_tickets(tx, actor, args)


def find_tickets(tx: Read, actor: Actor, args: Search) -> Found:
    """Find a page of tickets; an empty one says why."""
    ids = _list_named_ids(tx, actor, args.q)
    query = parse_query(f'"{ids[0]}"' if ids else args.q, tx.now, typing=args.typing)
    if ids:
        query = msgspec.structs.replace(
            query, texts=tuple(msgspec.structs.replace(text, forms=tuple(ids)) for text in query.texts)
        )
    company = None if args.company_id is None else resolve_company_id(actor, args.company_id)
    project = None if args.project_id is None else resolve_project_id(tx, actor, args.project_id)
    homes = [
        home
        for home in search_scope.list_visible_projects(tx, actor.viewer)
        if company in {None, home.company_id} and project in {None, home.project_id}
    ]
    index_query = _build_index_query(tx, actor, homes, args.status.statuses, query)
    after = decode_cursor(actor, args, tuple[int, int, int])
    matches, complete = index.find_matches(tx, actor.viewer, index_query, after, args.limit + 1)
    listed = records.list_tickets_by_keys(tx, actor.viewer, [each.key for each in matches])
    page = build_page(
        actor,
        args,
        [
            (each.place, Hit(**msgspec.structs.asdict(ticket), highlights=each.highlights))
            for each, ticket in zip(matches, listed, strict=True)
        ],
    )
    note = UNSET if homes else explain_empty_list(tx, actor, company=company, project=project)
    return Found(page.items, page.next_cursor, bounded=not complete, note=note)


class ExportSearch(Search, frozen=True):
    """The query and the filters of `search`."""


@operation(
    "export_search", scope=Scope.READ, budget=Budget.READ, rest="GET /search.csv", media=("text/csv",)
)  # fmt: skip
def export_search(tx: Read, actor: Actor, args: ExportSearch) -> Content:
    """List a page of the tickets that a search finds as CSV. `X-Next-Cursor` has the next page's cursor."""
    found = find_tickets(tx, actor, args)
    return render_tickets(Page(list(found.items), found.next_cursor))


def _list_named_ids(tx: Read, actor: Actor, q: str) -> list[str]:
    """List the ids of the tickets that a query names by id, key or URL; none for a query of words."""
    reference = None if is_foreign_address(q, tx.public_url) else parse_ticket_reference(q)
    if isinstance(reference, TicketKey):
        return [candidate.id for candidate in list_ticket_candidates(tx, actor, reference)]
    return [] if reference is None else [reference]


def _build_index_query(
    tx: Read, actor: Actor, homes: list[VisibleProject], wanted: tuple[Status, ...], query: SearchQuery
) -> IndexQuery:
    """Look up the names in the query. Raises InvalidRequest for a name that the caller can't see."""
    people: dict[FacetTerm, tuple[int, ...]] = {}
    columns: list[tuple[bool, tuple[int, ...]]] = []
    for choice in query.choices:
        match choice.facet:
            case Facet.STATUS:
                wanted = tuple(Status) if "all" in choice.values else tuple(Status(value) for value in choice.values)
            case Facet.PROJECT:
                homes = _limit_to_projects(homes, choice)
            case Facet.ASSIGNEE:
                people[choice] = tuple(key for value in choice.values for key in _find_people(tx, actor, choice, value))
            case Facet.COLUMN:
                keys = tuple(key for value in choice.values for key in _find_columns(tx, actor, choice, value))
                columns.append((choice.negated, keys))
            case Facet.LABEL:
                _check_labels(tx, actor, choice)
            case _:
                pass
    return IndexQuery(
        scope=search_scope.compose_scope(homes, tuple(dict.fromkeys(wanted)), query, people, tx.now),
        projects=tuple(home.project for home in homes),
        texts=index.expand_prefixes(tx, query.texts),
        periods=query.periods,
        columns=tuple(columns),
    )


def _limit_to_projects(homes: list[VisibleProject], choice: FacetTerm) -> list[VisibleProject]:
    for value in choice.values:
        if not any(_has_name(home, value) for home in homes):
            raise build_term_error(choice.span, f"there is no project named {value}")
    return [home for home in homes if any(_has_name(home, value) for value in choice.values) != choice.negated]


def _has_name(home: VisibleProject, name: str) -> bool:
    return name == home.project_id or name.casefold() == home.name.casefold()


def _check_labels(tx: Read, actor: Actor, choice: FacetTerm) -> None:
    try:
        check_labels(tx, actor, list(choice.values), "")
    except InvalidRequest as problem:
        raise build_term_error(choice.span, problem.detail, valid=problem.extra["valid"]) from None


def _find_people(tx: Read, actor: Actor, choice: FacetTerm, name: str) -> tuple[int, ...]:
    if name == "none":
        return ()
    users = (actor.user,) if name == "me" else search_scope.find_users_by_name(tx, actor.viewer, name)
    if not users:
        raise build_term_error(choice.span, f"there is no user named {name}")
    return users


def _find_columns(tx: Read, actor: Actor, choice: FacetTerm, name: str) -> tuple[int, ...]:
    columns = search_scope.find_columns_by_name(tx, actor.viewer, name)
    if not columns:
        raise build_term_error(choice.span, f"there is no column named {name}")
    return columns
