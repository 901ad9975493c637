"""Report keys: with them, people without an account report to a project (docs/use/reports.md).

Admins manage them in a web session.
"""

from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from ticketbox.domain.accounts import secrets
from ticketbox.domain.core.access.policy import Actor, require_confirmation
from ticketbox.domain.core.access.scopes import Access, Role
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.patterns import match_whole
from ticketbox.domain.core.problems import Conflict, InvalidField, InvalidRequest, NotFound, PasswordRequired
from ticketbox.domain.reports.records import ReportKey, ReportKind
from ticketbox.operations.core.inputs import Name
from ticketbox.operations.core.lookups import ProjectId, ReportKeyId, find_writable
from ticketbox.operations.core.paging import Cursor, Limit, Page, build_page, decode_cursor
from ticketbox.operations.core.recording import record_company_event
from ticketbox.operations.core.registry import operation
from ticketbox.store.core import bylines
from ticketbox.store.core.visibility import VisibleRow
from ticketbox.store.file.database import Read, Write
from ticketbox.store.reports import report_keys

DEFAULT_PER_MINUTE = 20
DEFAULT_PER_DAY = 200
_FIELDS = ("name", "origins", "enabled", "per_minute", "per_day")

KeyName = Annotated[Name, Meta(description="The key's name, such as the page's.", examples=["Shop"])]
Origin = Annotated[
    str,
    Meta(max_length=300, description="The origin of pages.", examples=["https://shop.example"]),
    match_whole(r"https?://[a-z0-9.\-\[\]:]*[a-z0-9\]]"),
]
Origins = Annotated[
    list[Origin], Meta(max_length=20, description="The origins whose pages may report. A script needs one at least.")
]
PerMinute = Annotated[int, Meta(ge=1, le=1_000, description="How many reports a minute are accepted with the key.")]
PerDay = Annotated[int, Meta(ge=1, le=100_000, description="How many reports a day (UTC) are accepted with the key.")]


class ListReportKeys(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The project whose keys to list."""

    project_id: ProjectId
    limit: Limit = 50
    cursor: Cursor | None = None


@operation("list_report_keys", scope=Access.SESSION, budget=Budget.READ, rest="GET /projects/{project_id}/report-keys")
def list_report_keys(tx: Read, actor: Actor, args: ListReportKeys) -> Page[ReportKey]:
    """List a project's report keys, oldest first. Requires the role admin."""
    project = find_writable(tx, actor, "project", args.project_id, Role.ADMIN).key
    (after,) = decode_cursor(actor, args) or (0,)
    return build_page(actor, args, report_keys.list_keys(tx, project, after, args.limit + 1))


class CreateReportKey(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The key reports to this project only."""

    project_id: ProjectId
    kind: Annotated[ReportKind, Meta(description="A script for your own pages, or a link to a page of this server.")]
    name: KeyName
    origins: Origins = []
    per_minute: PerMinute = DEFAULT_PER_MINUTE
    per_day: PerDay = DEFAULT_PER_DAY


@operation(
    "create_report_key", scope=Access.SESSION, budget=Budget.WRITE, rest="POST /projects/{project_id}/report-keys",
    refuses=(Conflict, PasswordRequired), creates=True,
    example={"project_id": "proj_9w4k2m7x0c3n", "kind": "script", "name": "Shop", "origins": ["https://shop.example"]},
)  # fmt: skip
def create_report_key(tx: Write, actor: Actor, args: CreateReportKey) -> ReportKey:
    """Create a public key with which people without an account report. Requires the role admin.

    Requires that this session confirmed the password.
    """
    row = find_writable(tx, actor, "project", args.project_id, Role.ADMIN)
    require_confirmation(actor.confirmed)
    _require_origins(args.kind, args.origins)
    _require_limits(tx, args.per_minute, args.per_day)
    if report_keys.count_keys(tx, row.key) >= report_keys.MAX_KEYS:
        raise Conflict(f"a project has up to {report_keys.MAX_KEYS} report keys; delete one first")
    new = report_keys.NewKey(
        row.key, args.kind, args.name.strip(), secrets.generate_secret(secrets.REPORT_KEY_PREFIX),
        list(dict.fromkeys(args.origins)), args.per_minute, args.per_day, bylines.ensure_byline(tx, actor),
    )  # fmt: skip
    key = report_keys.load_key(tx, report_keys.insert_key(tx, new))
    record_company_event(
        tx, actor, "report_key.created", row.company, row.key, report_key_id=key.id, name=key.name, kind=key.kind.value
    )
    return key


class UpdateReportKey(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Fields that aren't sent don't change."""

    report_key_id: ReportKeyId
    name: KeyName | UnsetType = UNSET
    origins: Origins | UnsetType = UNSET
    enabled: Annotated[bool, Meta(description="Whether reports are accepted.")] | UnsetType = UNSET
    per_minute: PerMinute | UnsetType = UNSET
    per_day: PerDay | UnsetType = UNSET


@operation(
    "update_report_key", scope=Access.SESSION, budget=Budget.WRITE, rest="PATCH /report-keys/{report_key_id}",
    refuses=(PasswordRequired,),
    example={"enabled": False},
)  # fmt: skip
def update_report_key(tx: Write, actor: Actor, args: UpdateReportKey) -> ReportKey:
    """Change a report key's name, origins or limits, or turn it on or off. Requires the role admin.

    Other origins, and turning it on, require that this session confirmed the password.
    """
    fields = {name: value for name in _FIELDS if (value := getattr(args, name)) is not UNSET}
    if not fields:
        raise InvalidRequest("nothing to change: send name, origins, enabled, per_minute or per_day")
    key, row = _find_key(tx, actor, args.report_key_id)
    if "name" in fields:
        fields["name"] = fields["name"].strip()
    before = report_keys.load_key(tx, key)
    if "origins" in fields:
        _require_origins(before.kind, fields["origins"])
    opens = not before.enabled and fields.get("enabled", False)
    require_confirmation(actor.confirmed or not (opens or set(fields.get("origins", ())) - set(before.origins)))
    _require_limits(tx, fields.get("per_minute", 1), fields.get("per_day", 1))
    report_keys.update_key(tx, key, **fields)
    return _record_change(tx, actor, key, row, list(fields))


class RotateReportKey(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The key to replace."""

    report_key_id: ReportKeyId


@operation(
    "rotate_report_key", scope=Access.SESSION, budget=Budget.WRITE, rest="POST /report-keys/{report_key_id}/rotate",
    refuses=(PasswordRequired,),
)  # fmt: skip
def rotate_report_key(tx: Write, actor: Actor, args: RotateReportKey) -> ReportKey:
    """Replace a report key by a new one. The former is accepted for 24 hours. Requires the role admin.

    Requires that this session confirmed the password.
    """
    key, row = _find_key(tx, actor, args.report_key_id)
    require_confirmation(actor.confirmed)
    report_keys.rotate_key(tx, key, secrets.generate_secret(secrets.REPORT_KEY_PREFIX))
    return _record_change(tx, actor, key, row, ["key"])


class CreateIdentitySecret(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The key whose identity secret to create or replace."""

    report_key_id: ReportKeyId


class NewIdentitySecret(msgspec.Struct, frozen=True):
    """A report key, and the secret with which your server signs identities. It is shown only in this response."""

    report_key: ReportKey
    secret: str


@operation(
    "create_identity_secret", scope=Access.SESSION, budget=Budget.WRITE,
    rest="POST /report-keys/{report_key_id}/identity-secret", refuses=(PasswordRequired,),
)  # fmt: skip
def create_identity_secret(tx: Write, actor: Actor, args: CreateIdentitySecret) -> NewIdentitySecret:
    """Create or replace the secret that signs who reporters are. Requires the role admin.

    Requires that this session confirmed the password. The old secret is accepted for 24 hours. `secret` is shown only
    in this response.
    """
    key, row = _find_key(tx, actor, args.report_key_id)
    require_confirmation(actor.confirmed)
    secret = secrets.generate_secret(secrets.IDENTITY_PREFIX)
    report_keys.set_identity_secret(tx, key, secret)
    return NewIdentitySecret(_record_change(tx, actor, key, row, ["identity_secret"]), secret)


class DeleteIdentitySecret(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The key whose identity secret to delete."""

    report_key_id: ReportKeyId


@operation(
    "delete_identity_secret", scope=Access.SESSION, budget=Budget.WRITE,
    rest="DELETE /report-keys/{report_key_id}/identity-secret",
)  # fmt: skip
def delete_identity_secret(tx: Write, actor: Actor, args: DeleteIdentitySecret) -> None:
    """Delete a report key's identity secrets, the old one too. Requires the role admin.

    Signed identities are refused from the next report on.
    """
    key, row = _find_key(tx, actor, args.report_key_id)
    report_keys.delete_identity_secrets(tx, key)
    _record_change(tx, actor, key, row, ["identity_secret"])


class DeleteReportKey(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The tickets that were reported with it stay."""

    report_key_id: ReportKeyId


@operation("delete_report_key", scope=Access.SESSION, budget=Budget.WRITE, rest="DELETE /report-keys/{report_key_id}")
def delete_report_key(tx: Write, actor: Actor, args: DeleteReportKey) -> None:
    """Delete a report key. It is refused from the next report on. Requires the role admin."""
    key, row = _find_key(tx, actor, args.report_key_id)
    name = report_keys.load_key(tx, key).name
    report_keys.delete_key(tx, key)
    record_company_event(
        tx, actor, "report_key.removed", row.company, row.key, report_key_id=args.report_key_id, name=name
    )


def _require_origins(kind: ReportKind, origins: list[str]) -> None:
    if kind is ReportKind.SCRIPT and not origins:
        raise InvalidField("origins", "a script needs the origin of its pages, such as https://shop.example")


def _require_limits(tx: Write, per_minute: int, per_day: int) -> None:
    """Refuse limits above the operator's ceilings. Raises InvalidField."""
    tx.ceilings.require_report_limit("per_minute", per_minute)
    tx.ceilings.require_report_limit("per_day", per_day)


def _record_change(tx: Write, actor: Actor, key: int, row: VisibleRow, fields: list[str]) -> ReportKey:
    """Record the change of a key; return the key as it is now."""
    changed = report_keys.load_key(tx, key)
    record_company_event(
        tx,
        actor,
        "report_key.changed",
        row.company,
        row.key,
        report_key_id=changed.id,
        name=changed.name,
        fields=fields,
    )
    return changed


def _find_key(tx: Read, actor: Actor, public_id: str) -> tuple[int, VisibleRow]:
    """Find a key of a project where the caller is an admin, and the project. Raises NotFound and Forbidden."""
    found = report_keys.find_key(tx, public_id)
    if found is not None:
        try:
            return found[0], find_writable(tx, actor, "project", found[1], Role.ADMIN)
        except NotFound:
            pass
    raise NotFound("report key")
