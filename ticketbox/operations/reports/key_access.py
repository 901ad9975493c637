"""What a report key lets a page do: who may use it, for which project, and how often (docs/use/reports.md)."""

from typing import Any

from ticketbox.domain.accounts import secrets
from ticketbox.domain.companies.records import CapturePolicy
from ticketbox.domain.core.access.policy import Actor, Kind, Via
from ticketbox.domain.core.access.scopes import Role
from ticketbox.domain.core.clock import DAY
from ticketbox.domain.core.network.server_url import get_origin
from ticketbox.domain.core.problems import Forbidden, NotFound, RateLimited
from ticketbox.domain.reports.records import ReportKind
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.services import Services
from ticketbox.store.companies import projects
from ticketbox.store.core.visibility import VisibleRow, find_visible_row
from ticketbox.store.file.database import Read
from ticketbox.store.reports import report_keys
from ticketbox.store.reports.report_keys import AddressedKey

ADDRESS_PER_MINUTE = 10
SETTINGS_PER_MINUTE = 60


async def guard_report(services: Services, path: dict[str, Any], context: RequestContext) -> None:
    """Refuse a report before its body is read: by its key, its page's origin, and the limits.

    Raises NotFound, Forbidden and RateLimited. An address has its own limit, which it uses up before the key's. Pages
    of every origin may read why they are refused.
    """
    context.readable_from = context.origin
    services.limit(context.network, "reports of an address", ADDRESS_PER_MINUTE, "too many reports from this address")
    key = await services.read(lambda tx: find_key(tx, path["key"]), (0, context.network))
    if key.kind is ReportKind.SCRIPT:
        if context.origin not in key.origins:
            raise Forbidden("this key isn't for pages of this origin")
    elif context.origin not in {None, get_origin(services.public_url)}:
        raise Forbidden("this key is for the page of its link")
    require_day(key, services.ceilings.reports_per_day, services.database.clock.now())
    per_minute = min(key.per_minute, services.ceilings.reports_per_minute)
    services.limit(key.key, "reports of a key", per_minute, "too many reports on this page")


async def guard_settings(services: Services, path: dict[str, Any], context: RequestContext) -> None:
    """Refuse pages of other origins, and too many requests. Raises NotFound, Forbidden and RateLimited."""
    context.readable_from = context.origin
    services.limit(context.network, "reporters of an address", SETTINGS_PER_MINUTE, "too many requests")
    key = await services.read(lambda tx: find_key(tx, path["key"]), (0, context.network))
    if context.origin not in {None, *key.origins}:
        raise Forbidden("this key isn't for pages of this origin")


def find_key(tx: Read, text: str) -> AddressedKey:
    """Find a report key that is turned on. Raises NotFound."""
    well_formed = secrets.is_well_formed(text, secrets.REPORT_KEY_PREFIX)
    key = report_keys.find_by_text(tx, text) if well_formed else None
    if key is None:
        raise NotFound("report key", "this report key doesn't exist, or it was turned off or deleted")
    return key


def require_day(key: AddressedKey, ceiling: int, now: int) -> None:
    """Refuse a key that has had its reports of the day, with the seconds until the next. Raises RateLimited."""
    if key.today >= min(key.per_day, ceiling):
        raise RateLimited(
            (DAY - now % DAY + 999) // 1000, "no more reports are accepted here today", "reports of a key a day"
        )


def build_actor(key: AddressedKey) -> Actor:
    """Build the actor of a key: its creator, by a token that is the key."""
    return Actor(
        key.user, key.user_id, key.user_name, "", 0, key.public_id, f"{key.name} (report)", Kind.API, frozenset(),
        key.company, False, None, (), Via.REST,
    )  # fmt: skip


def find_policy(tx: Read, text: str) -> tuple[AddressedKey, CapturePolicy]:
    """Find a key, and what its project accepts of captures. Raises NotFound."""
    key = find_key(tx, text)
    find_project(tx, key)
    return key, projects.load_project(tx, build_actor(key).viewer, key.project).capture_policy


def find_project(tx: Read, key: AddressedKey) -> VisibleRow:
    """Find the project as the key's creator sees it. Raises NotFound if that person can't create tickets any more."""
    row = find_visible_row(tx, build_actor(key).viewer, "project", key.project_id)
    if row is None or row.role < Role.MEMBER:
        raise NotFound("report key", "the person who created this report key has no access to the project any more")
    return row
