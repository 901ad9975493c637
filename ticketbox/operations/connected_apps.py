"""Connected apps: what the caller granted to apps, and taking it back (docs/use/oauth.md)."""

import msgspec

from ticketbox.domain.account_records import ConnectedApp
from ticketbox.domain.limits import Budget
from ticketbox.domain.policy import Actor
from ticketbox.domain.problems import NotFound
from ticketbox.domain.scopes import Access
from ticketbox.operations.grants import ended
from ticketbox.operations.lookups import Id
from ticketbox.operations.paging import Cursor, Limit, Page, page, resume
from ticketbox.operations.registry import operation
from ticketbox.operations.tokens import NEWEST
from ticketbox.store import grants
from ticketbox.store.database import Read, Write


class ListConnectedApps(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The caller's own grants that hold."""

    limit: Limit = 50
    cursor: Cursor | None = None


@operation("list_connected_apps", scope=Access.SESSION, budget=Budget.READ, rest="GET /connected-apps")
def list_connected_apps(tx: Read, actor: Actor, args: ListConnectedApps) -> Page[ConnectedApp]:
    """List the apps that the caller let in, newest first."""
    (before,) = resume(actor, args) or (NEWEST,)
    return page(actor, args, grants.apps(tx, actor.user, before, args.limit + 1))


class RevokeConnectedApp(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """One of the caller's own grants."""

    app_id: Id


@operation(
    "revoke_connected_app", scope=Access.SESSION, budget=Budget.WRITE, rest="DELETE /connected-apps/{app_id}"
)  # fmt: skip
def revoke_connected_app(tx: Write, actor: Actor, args: RevokeConnectedApp) -> None:
    """Take back what an app was granted: the next request that it sends is refused."""
    if not ended(tx, actor, args.app_id):
        raise NotFound("connected app")
