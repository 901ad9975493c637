"""What a client offers to a person: the caller's open tickets as resources, and values for arguments of prompts.

Each comes from an operation, so the caller sees only what the token can read.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ticketbox.domain.core.hidden_text import remove_hidden_characters
from ticketbox.domain.tickets.records import Ticket
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.dispatch import Dispatcher
from ticketbox.operations.core.registry import Registry

if TYPE_CHECKING:
    import mcp_types as types

MAX_VALUES = 100  # as many as the protocol allows in a completion
_LISTED = 50
_PROJECTS = 10  # whose columns are suggested: each costs one read


class Suggestions:
    """Looks up tickets, projects and columns for a caller."""

    def __init__(self, registry: Registry, dispatcher: Dispatcher) -> None:
        self._registry = registry
        self._dispatcher = dispatcher

    async def list_tickets(self, context: RequestContext) -> list["types.Resource"]:
        """List as resources the unresolved tickets that are assigned to the caller, newest change first."""
        import mcp_types as types

        return [
            types.Resource(
                uri=f"ticket://{ticket.id}",
                name=ticket.key,
                title=remove_hidden_characters(ticket.title)[0],
                description=f"{ticket.priority.value} priority" if ticket.priority != "none" else None,
                mime_type="application/json",
            )
            for ticket in await self._list_tickets(context, assignee=["me"], limit=_LISTED)
        ]

    async def complete(self, argument: str, value: str, context: RequestContext) -> "types.CompleteResult":
        """Suggest keys for an argument of a prompt or of a resource's address, by the beginning of one or of an id.

        All are also found by words of the title or name. A column has an id. Unknown arguments have no suggestions.
        """
        import mcp_types as types

        if argument in {"ticket_id", "id"}:
            found = await self._suggest_tickets(value, context)
        elif argument == "project_id":
            found = _match(
                value, ((each.key, each.id, each.name) for each in await self._list("list_projects", context))
            )
        elif argument == "column_id":
            found = await self._suggest_columns(value, context)
        else:
            found = []
        completion = types.Completion(values=found[:MAX_VALUES], total=len(found), has_more=len(found) > MAX_VALUES)
        return types.CompleteResult(completion=completion)

    async def _suggest_tickets(self, value: str, context: RequestContext) -> list[str]:
        """Without a value, the caller's tickets; else those among the 100 changed last."""
        mine = {} if value.strip() else {"assignee": ["me"]}
        tickets = await self._list_tickets(context, limit=100, **mine)
        return _match(value, ((ticket.key, ticket.id, ticket.title) for ticket in tickets))

    async def _suggest_columns(self, value: str, context: RequestContext) -> list[str]:
        named: list[tuple[str, str, str]] = []
        for project in (await self._list("list_projects", context))[:_PROJECTS]:
            columns = await self._list("list_columns", context, project_id=project.id)
            named += [(column.id, column.id, f"{project.name} {column.name}") for column in columns]
        return _match(value, named)

    async def _list_tickets(self, context: RequestContext, **arguments: Any) -> list[Ticket]:
        return await self._list("list_tickets", context, resolved=False, **arguments)

    async def _list(self, operation: str, context: RequestContext, **arguments: Any) -> list[Any]:
        page = await self._dispatcher.dispatch(self._registry[operation], arguments, context)
        return page.items


def _match(value: str, named: Iterable[tuple[str, str, str]]) -> list[str]:
    """Return the keys that begin with a value, or whose id does, then those whose name contains it."""
    wanted = value.strip().lower()
    found = list(named)
    begun = [key for key, identity, _ in found if wanted in {key.lower()[: len(wanted)], identity[: len(wanted)]}]
    by_name = [key for key, _, name in found if wanted in name.lower()]
    return list(dict.fromkeys(begun + by_name))
