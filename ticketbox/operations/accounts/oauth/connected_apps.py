"""Connected apps: list and revoke the access that the caller granted to apps (docs/use/oauth.md)."""

import msgspec

from ticketbox.domain.accounts.records import ConnectedApp
from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.access.scopes import Access
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.problems import NotFound
from ticketbox.operations.accounts.oauth.grants import revoke_app_grant
from ticketbox.operations.core.lookups import AppId
from ticketbox.operations.core.paging import NEWEST, Cursor, Limit, Page, build_page, decode_cursor
from ticketbox.operations.core.registry import operation
from ticketbox.store.accounts.oauth import connected_apps
from ticketbox.store.file.database import Read, Write


class ListConnectedApps(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Which of the caller's active grants to return."""

    limit: Limit = 50
    cursor: Cursor | None = None


@operation("list_connected_apps", scope=Access.SESSION, budget=Budget.READ, rest="GET /connected-apps")
def list_connected_apps(tx: Read, actor: Actor, args: ListConnectedApps) -> Page[ConnectedApp]:
    """List the apps that the caller granted access to, newest first."""
    (before,) = decode_cursor(actor, args) or (NEWEST,)
    return build_page(actor, args, connected_apps.list_connected_apps(tx, actor.user, before, args.limit + 1))


class RevokeConnectedApp(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """One of the caller's grants."""

    app_id: AppId


@operation(
    "revoke_connected_app", scope=Access.SESSION, budget=Budget.WRITE, rest="DELETE /connected-apps/{app_id}"
)  # fmt: skip
def revoke_connected_app(tx: Write, actor: Actor, args: RevokeConnectedApp) -> None:
    """Revoke an app's access. The next request that it sends is refused."""
    if not revoke_app_grant(tx, actor, args.app_id):
        raise NotFound("connected app")
