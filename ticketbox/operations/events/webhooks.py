"""Webhooks: send a company's events to URLs. For admins, in a web session (docs/use/webhooks.md)."""

from ipaddress import ip_address
from typing import Annotated
from urllib.parse import urlsplit

import msgspec
from msgspec import UNSET, Meta, UnsetType

from ticketbox.domain.core.access.policy import Actor, require_company_role, require_confirmation
from ticketbox.domain.core.access.scopes import Access, Role
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.network.outbound_addresses import is_public_address
from ticketbox.domain.core.patterns import match_whole
from ticketbox.domain.core.problems import Conflict, InvalidField, InvalidRequest, NotFound, PasswordRequired
from ticketbox.domain.events import webhook_signature
from ticketbox.domain.events.records import Attempt, Delivery, DeliveryState, Webhook, WebhookFormat
from ticketbox.operations.core.context import RequestContext
from ticketbox.operations.core.inputs import Name
from ticketbox.operations.core.lookups import CompanyId, DeliveryId, Key, WebhookId, find_membership
from ticketbox.operations.core.paging import NEWEST, Cursor, Limit, Page, build_page, decode_cursor
from ticketbox.operations.core.recording import record_company_event
from ticketbox.operations.core.registry import operation
from ticketbox.operations.core.services import Services
from ticketbox.operations.events.events import EventType
from ticketbox.store.core import bylines
from ticketbox.store.events import webhook_deliveries, webhooks
from ticketbox.store.events.webhook_deliveries import DeliveryKeys
from ticketbox.store.events.webhooks import WebhookKeys
from ticketbox.store.file.database import Read, Write

Address = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=2_000,
        description="An https URL; http is accepted if the operator allows private addresses.",
        examples=["https://hooks.example/ticketbox"],
    ),
    match_whole("https?://[!-~]+"),
]
Types = Annotated[
    list[EventType],
    Meta(min_length=1, max_length=30, description="Send only these types; null, the default, means all."),
]


class ListWebhooks(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The company whose webhooks to list."""

    company_id: CompanyId
    limit: Limit = 50
    cursor: Cursor | None = None


@operation(
    "list_webhooks", scope=Access.SESSION, budget=Budget.READ, rest="GET /companies/{company_id}/webhooks"
)  # fmt: skip
def list_webhooks(tx: Read, actor: Actor, args: ListWebhooks) -> Page[Webhook]:
    """List a company's webhooks, oldest first. Requires the role admin."""
    key = find_membership(actor, args.company_id, Role.ADMIN).company
    (after,) = decode_cursor(actor, args) or (0,)
    return build_page(actor, args, webhooks.list_webhooks(tx, key, after, args.limit + 1))


class CreateWebhook(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Events are sent from now on; `format` is the format of the body."""

    company_id: CompanyId
    url: Address
    name: Annotated[Name, Meta(description="The webhook's name.")]
    types: Types | None = None
    format: WebhookFormat = WebhookFormat.STANDARD


class UpdateWebhook(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Fields that aren't sent don't change. `enabled` true sends new events again; those in between aren't sent."""

    webhook_id: WebhookId
    url: Address | UnsetType = UNSET
    name: Annotated[Name, Meta(description="The webhook's name.")] | UnsetType = UNSET
    types: Types | UnsetType | None = UNSET
    format: WebhookFormat | UnsetType = UNSET
    enabled: Annotated[bool, Meta(description="Whether events are sent.")] | UnsetType = UNSET


class NewWebhook(msgspec.Struct, frozen=True):
    """A webhook and its new secret, which is shown only in this response."""

    webhook: Webhook
    secret: str


async def require_allowed_address(
    services: Services, actor: Actor, args: CreateWebhook | UpdateWebhook, context: RequestContext
) -> None:
    """Refuse a URL that is never connected to. Host names are resolved and checked later. Raises InvalidRequest."""
    if args.url is UNSET:
        return
    try:
        parts = urlsplit(args.url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        raise InvalidField("url", "this isn't a URL") from None
    if not host or "@" in parts.netloc or parts.fragment or args.url != args.url.strip():
        raise InvalidField("url", "must be a URL with a host, and without a user, a fragment or white space")
    if services.allow_private:
        return
    if parts.scheme != "https":
        raise InvalidField("url", "must be an https URL")
    if _is_ip_address(host) and not is_public_address(host):
        raise InvalidField("url", "this isn't a public internet address; see --allow-private-addresses")


def _is_ip_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


@operation(
    "create_webhook", scope=Access.SESSION, budget=Budget.WRITE, rest="POST /companies/{company_id}/webhooks",
    refuses=(Conflict, PasswordRequired), creates=True, prepare=require_allowed_address,
    example={"url": "https://hooks.example/ticketbox", "name": "Build server", "types": ["ticket.created"]},
)  # fmt: skip
def create_webhook(tx: Write, actor: Actor, args: CreateWebhook, _: None) -> NewWebhook:
    """Send a company's events to a URL. Requires the role admin, and that this session confirmed the password.

    `secret` is shown only in this response.
    """
    key = find_membership(actor, args.company_id, Role.ADMIN).company
    require_confirmation(actor.confirmed)
    if webhooks.count_webhooks(tx, key) >= webhooks.MAX_WEBHOOKS:
        raise Conflict(f"a company has up to {webhooks.MAX_WEBHOOKS} webhooks; delete one first")
    secret = webhook_signature.generate_key()
    types = None if args.types is None else [each.value for each in args.types]
    new = webhooks.NewWebhookRow(
        key, args.name.strip(), args.url, args.format, types, secret, bylines.ensure_byline(tx, actor)
    )
    webhook, public_id = webhooks.insert_webhook(tx, new)
    record_company_event(
        tx, actor, "webhook.created", key, webhook_id=public_id, name=new.name, host=_get_host(args.url)
    )
    return NewWebhook(webhooks.load_webhook(tx, webhook), webhook_signature.format_key(secret))


@operation(
    "update_webhook", scope=Access.SESSION, budget=Budget.WRITE, rest="PATCH /webhooks/{webhook_id}",
    refuses=(PasswordRequired,), prepare=require_allowed_address, example={"enabled": True},
)  # fmt: skip
def update_webhook(tx: Write, actor: Actor, args: UpdateWebhook, _: None) -> Webhook:
    """Change, disable or enable a webhook. Requires the role admin.

    Another URL requires that this session confirmed the password.
    """
    webhook = _find_webhook(tx, actor, args.webhook_id)
    fields = {name: value for name, value in msgspec.structs.asdict(args).items() if value is not UNSET}
    del fields["webhook_id"]
    if not fields:
        raise InvalidRequest("nothing to change: send url, name, types, format or enabled")
    if args.url is not UNSET and args.url != webhooks.load_webhook(tx, webhook.key).url:
        require_confirmation(actor.confirmed)
    changes = webhooks.WebhookChanges(
        name=UNSET if args.name is UNSET else args.name.strip(),
        url=args.url,
        format=args.format,
        types=args.types if args.types is UNSET or args.types is None else [each.value for each in args.types],
    )
    webhooks.update_webhook(tx, webhook.key, changes)
    if args.enabled is True and not webhook.enabled:
        webhooks.enable_webhook(tx, webhook.key)
    elif args.enabled is False and webhook.enabled:
        webhooks.disable_webhook(tx, webhook.key, f"{actor.name} disabled it")
    host = {} if args.url is UNSET else {"host": _get_host(args.url)}
    record_company_event(
        tx, actor, "webhook.changed", webhook.company, None, None,
        webhook_id=args.webhook_id, fields=sorted(fields), **host,
    )  # fmt: skip
    return webhooks.load_webhook(tx, webhook.key)


class RotateSecret(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The webhook whose secret to replace."""

    webhook_id: WebhookId


@operation(
    "rotate_webhook_secret", scope=Access.SESSION, budget=Budget.WRITE, rest="POST /webhooks/{webhook_id}/rotate",
    refuses=(PasswordRequired,),
)  # fmt: skip
def rotate_webhook_secret(tx: Write, actor: Actor, args: RotateSecret) -> NewWebhook:
    """Replace a webhook's secret. The old one also signs for 24 hours. Requires the role admin.

    Requires that this session confirmed the password. `secret` is shown only in this response.
    """
    webhook = _find_webhook(tx, actor, args.webhook_id)
    require_confirmation(actor.confirmed)
    secret = webhook_signature.generate_key()
    webhooks.rotate_secret(tx, webhook.key, secret)
    record_company_event(
        tx, actor, "webhook.changed", webhook.company, webhook_id=args.webhook_id, fields=["secret"]
    )  # fmt: skip
    return NewWebhook(webhooks.load_webhook(tx, webhook.key), webhook_signature.format_key(secret))


class DeleteWebhook(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The webhook's deliveries are deleted too."""

    webhook_id: WebhookId


@operation("delete_webhook", scope=Access.SESSION, budget=Budget.WRITE, rest="DELETE /webhooks/{webhook_id}")
def delete_webhook(tx: Write, actor: Actor, args: DeleteWebhook) -> None:
    """Delete a webhook. Requires the role admin."""
    webhook = _find_webhook(tx, actor, args.webhook_id)
    webhooks.delete_webhook(tx, webhook.key)
    record_company_event(tx, actor, "webhook.removed", webhook.company, webhook_id=args.webhook_id)


class ListDeliveries(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The webhook whose deliveries to list."""

    webhook_id: WebhookId
    limit: Limit = 50
    cursor: Cursor | None = None


@operation(
    "list_deliveries", scope=Access.SESSION, budget=Budget.READ, rest="GET /webhooks/{webhook_id}/deliveries"
)  # fmt: skip
def list_deliveries(tx: Read, actor: Actor, args: ListDeliveries) -> Page[Delivery]:
    """List a webhook's deliveries, sent and waiting, newest first. Requires the role admin."""
    webhook = _find_webhook(tx, actor, args.webhook_id)
    (before,) = decode_cursor(actor, args) or (NEWEST,)
    return build_page(actor, args, webhook_deliveries.list_deliveries(tx, webhook.key, before, args.limit + 1))


class ReplayDelivery(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A delivery that succeeded or was given up."""

    delivery_id: DeliveryId
    idempotency_key: Key | None = None


@operation(
    "replay_delivery", scope=Access.SESSION, budget=Budget.WRITE, rest="POST /deliveries/{delivery_id}/replay",
    refuses=(Conflict,), creates=True,
)  # fmt: skip
def replay_delivery(tx: Write, actor: Actor, args: ReplayDelivery) -> Delivery:
    """Deliver an event again, with the same `webhook-id`. Requires the role admin."""
    delivery, webhook = _find_delivery(tx, actor, args.delivery_id)
    if delivery.state is DeliveryState.PENDING:
        raise Conflict("this delivery is still pending")
    if not webhook.enabled:
        raise Conflict("the webhook is disabled; enable it first")
    return webhook_deliveries.replay_delivery(tx, delivery)


class ListAttempts(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The delivery whose attempts to list."""

    delivery_id: DeliveryId


class Attempts(msgspec.Struct, frozen=True):
    """All attempts of a delivery, at most 15."""

    items: list[Attempt]


@operation(
    "list_attempts", scope=Access.SESSION, budget=Budget.READ, rest="GET /deliveries/{delivery_id}/attempts"
)  # fmt: skip
def list_attempts(tx: Read, actor: Actor, args: ListAttempts) -> Attempts:
    """List the attempts of a delivery, oldest first. Requires the role admin."""
    delivery, _ = _find_delivery(tx, actor, args.delivery_id)
    return Attempts(webhook_deliveries.list_attempts(tx, delivery))


def _find_delivery(tx: Read, actor: Actor, public_id: str) -> tuple[DeliveryKeys, WebhookKeys]:
    """Find a delivery of a company where the caller is an admin, and its webhook. Raises NotFound and Forbidden."""
    delivery = webhook_deliveries.find_delivery(tx, public_id)
    if delivery is not None and _is_reachable(actor, webhook := webhook_deliveries.load_webhook_keys(tx, delivery)):
        return delivery, webhook
    raise NotFound("delivery")


def _find_webhook(tx: Read, actor: Actor, public_id: str) -> WebhookKeys:
    """Find a webhook of a company where the caller is an admin. Raises NotFound and Forbidden."""
    webhook = webhooks.find_webhook(tx, public_id)
    if webhook is None or not _is_reachable(actor, webhook):
        raise NotFound("webhook")
    return webhook


def _is_reachable(actor: Actor, webhook: WebhookKeys) -> bool:
    membership = actor.find_membership(webhook.company)
    if membership is not None:
        require_company_role(membership, Role.ADMIN)
    return membership is not None


def _get_host(url: str) -> str:
    """Return the part of a URL that the audit log shows. The rest may be secret."""
    return urlsplit(url).hostname or ""
