"""Git hooks: addresses for webhooks of repositories. For admins, in a web session (docs/use/git.md)."""

from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from ticketbox.domain.accounts import secrets
from ticketbox.domain.core.access.policy import Actor, require_confirmation
from ticketbox.domain.core.access.scopes import Access, Role
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.problems import Conflict, InvalidRequest, NotFound, PasswordRequired
from ticketbox.domain.git.records import GitHook
from ticketbox.operations.core.inputs import Name
from ticketbox.operations.core.lookups import GitHookId, ProjectId, find_writable
from ticketbox.operations.core.paging import Cursor, Limit, Page, build_page, decode_cursor
from ticketbox.operations.core.recording import record_company_event
from ticketbox.operations.core.registry import operation
from ticketbox.store.core import bylines
from ticketbox.store.core.visibility import VisibleRow
from ticketbox.store.file.database import Read, Write
from ticketbox.store.git import git_hooks

HOOK_PATH = "/hooks/git/"

HookName = Annotated[Name, Meta(description="The hook's name, such as the repository's.", examples=["shop/web"])]
ClosesTickets = Annotated[bool, Meta(description="Whether a ticket is done when its fix lands in the default branch.")]


class ListGitHooks(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The project whose hooks to list."""

    project_id: ProjectId
    limit: Limit = 50
    cursor: Cursor | None = None


@operation("list_git_hooks", scope=Access.SESSION, budget=Budget.READ, rest="GET /projects/{project_id}/git-hooks")
def list_git_hooks(tx: Read, actor: Actor, args: ListGitHooks) -> Page[GitHook]:
    """List a project's git hooks, oldest first. Requires the role admin."""
    project = find_writable(tx, actor, "project", args.project_id, Role.ADMIN).key
    (after,) = decode_cursor(actor, args) or (0,)
    return build_page(actor, args, git_hooks.list_hooks(tx, project, after, args.limit + 1))


class CreateGitHook(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The hook links tickets of this project only."""

    project_id: ProjectId
    name: HookName
    closes_tickets: ClosesTickets = True


class NewGitHook(msgspec.Struct, frozen=True):
    """A git hook, and what to enter at the provider. Both are shown only in this response.

    `url` is null if only the secret is new.
    """

    git_hook: GitHook
    url: str | None
    secret: str


@operation(
    "create_git_hook", scope=Access.SESSION, budget=Budget.WRITE, rest="POST /projects/{project_id}/git-hooks",
    refuses=(Conflict, PasswordRequired), creates=True,
    example={"project_id": "proj_9w4k2m7x0c3n", "name": "shop/web"},
)  # fmt: skip
def create_git_hook(tx: Write, actor: Actor, args: CreateGitHook) -> NewGitHook:
    """Create an address for a repository's webhooks. Requires the role admin.

    Requires that this session confirmed the password. `url` and `secret` are shown only in this response.
    """
    row = find_writable(tx, actor, "project", args.project_id, Role.ADMIN)
    require_confirmation(actor.confirmed)
    if git_hooks.count_hooks(tx, row.key) >= git_hooks.MAX_HOOKS:
        raise Conflict(f"a project has up to {git_hooks.MAX_HOOKS} git hooks; delete one first")
    address = secrets.generate_secret(secrets.GIT_ADDRESS_PREFIX)
    secret = secrets.generate_secret(secrets.GIT_KEY_PREFIX)
    new = git_hooks.NewHook(
        row.key, args.name.strip(), args.closes_tickets, secrets.hash_secret(address), secret,
        bylines.ensure_byline(tx, actor),
    )  # fmt: skip
    hook = git_hooks.load_hook(tx, git_hooks.insert_hook(tx, new))
    record_company_event(tx, actor, "git_hook.created", row.company, row.key, git_hook_id=hook.id, name=hook.name)
    return NewGitHook(hook, f"{tx.public_url}{HOOK_PATH}{address}", secret)


class UpdateGitHook(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Fields that aren't sent don't change."""

    git_hook_id: GitHookId
    name: HookName | UnsetType = UNSET
    closes_tickets: ClosesTickets | UnsetType = UNSET


@operation(
    "update_git_hook", scope=Access.SESSION, budget=Budget.WRITE, rest="PATCH /git-hooks/{git_hook_id}",
    example={"closes_tickets": False},
)  # fmt: skip
def update_git_hook(tx: Write, actor: Actor, args: UpdateGitHook) -> GitHook:
    """Rename a git hook, or change whether it closes tickets. Requires the role admin."""
    fields = [name for name in ("name", "closes_tickets") if getattr(args, name) is not UNSET]
    if not fields:
        raise InvalidRequest("nothing to change: send name or closes_tickets")
    key, row = _find_hook(tx, actor, args.git_hook_id)
    name = UNSET if args.name is UNSET else args.name.strip()
    git_hooks.update_hook(tx, key, name, args.closes_tickets)
    hook = git_hooks.load_hook(tx, key)
    record_company_event(
        tx, actor, "git_hook.changed", row.company, row.key, git_hook_id=hook.id, name=hook.name, fields=fields
    )
    return hook


class RotateGitHookSecret(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The hook whose secret to replace."""

    git_hook_id: GitHookId


@operation(
    "rotate_git_hook_secret", scope=Access.SESSION, budget=Budget.WRITE, rest="POST /git-hooks/{git_hook_id}/rotate",
    refuses=(PasswordRequired,),
)  # fmt: skip
def rotate_git_hook_secret(tx: Write, actor: Actor, args: RotateGitHookSecret) -> NewGitHook:
    """Replace a git hook's secret. The old one is accepted for 24 hours. Requires the role admin.

    Requires that this session confirmed the password. `secret` is shown only in this response; the URL stays.
    """
    key, row = _find_hook(tx, actor, args.git_hook_id)
    require_confirmation(actor.confirmed)
    secret = secrets.generate_secret(secrets.GIT_KEY_PREFIX)
    git_hooks.rotate_secret(tx, key, secret)
    hook = git_hooks.load_hook(tx, key)
    record_company_event(
        tx, actor, "git_hook.changed", row.company, row.key, git_hook_id=hook.id, name=hook.name, fields=["secret"]
    )
    return NewGitHook(hook, None, secret)


class DeleteGitHook(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The links that it made stay; their states no longer change."""

    git_hook_id: GitHookId


@operation("delete_git_hook", scope=Access.SESSION, budget=Budget.WRITE, rest="DELETE /git-hooks/{git_hook_id}")
def delete_git_hook(tx: Write, actor: Actor, args: DeleteGitHook) -> None:
    """Delete a git hook. Requires the role admin."""
    key, row = _find_hook(tx, actor, args.git_hook_id)
    name = git_hooks.load_hook(tx, key).name
    git_hooks.delete_hook(tx, key)
    record_company_event(
        tx, actor, "git_hook.removed", row.company, row.key, git_hook_id=args.git_hook_id, name=name
    )  # fmt: skip


def _find_hook(tx: Read, actor: Actor, public_id: str) -> tuple[int, VisibleRow]:
    """Find a hook of a project where the caller is an admin, and the project. Raises NotFound and Forbidden."""
    found = git_hooks.find_hook(tx, public_id)
    if found is not None:
        try:
            return found[0], find_writable(tx, actor, "project", found[1], Role.ADMIN)
        except NotFound:
            pass
    raise NotFound("git hook")
