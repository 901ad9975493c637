"""Sites that the extension records: their pages belong to the project that the person reports to."""

from typing import Annotated

import msgspec
from msgspec import Meta

from ticketbox.domain.companies.records import Project
from ticketbox.domain.companies.url_patterns import choose_best_match
from ticketbox.domain.core.access.policy import Actor
from ticketbox.domain.core.access.scopes import Role, Scope
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.patterns import match_whole
from ticketbox.domain.core.problems import Forbidden, InvalidField
from ticketbox.operations.companies.projects import MAX_URL_PATTERNS
from ticketbox.operations.core.lookups import ProjectId, find_writable
from ticketbox.operations.core.recording import record_company_event
from ticketbox.operations.core.registry import operation
from ticketbox.store.companies import members, projects
from ticketbox.store.file.database import Read, Write

_NAMED_ADMINS = 3

Origin = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=300,
        description="The site's origin: scheme, host and port.",
        examples=["https://shop.example"],
    ),
    match_whole(r"https?://(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:[0-9]{1,5})?"),
]


class AddSite(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The site's pages get a pattern of the project, unless they have one in a project that the caller can access."""

    project_id: ProjectId
    origin: Origin


@operation("add_site", scope=Scope.TICKETS_WRITE, budget=Budget.WRITE, rest="POST /projects/{project_id}/sites")
def add_site(tx: Write, actor: Actor, args: AddSite) -> Project:
    """Add a site to a project's address patterns. Requires the role admin; the refusal says who has it.

    A site whose pages a pattern matches already stays where it is.
    """
    row = find_writable(tx, actor, "project", args.project_id)
    if choose_best_match(projects.list_url_patterns(tx, actor.viewer), f"{args.origin}/") is None:
        if row.role < Role.ADMIN:
            admins = _name_admins(tx, row.company, row.project)
            raise Forbidden(f"this requires the role admin, which these have: {admins}")
        patterns = projects.load_project(tx, actor.viewer, row.key).url_patterns
        if len(patterns) >= MAX_URL_PATTERNS:
            raise InvalidField("origin", f"the project has {MAX_URL_PATTERNS} address patterns already")
        projects.update_project(tx, row.key, patterns=[*patterns, f"{args.origin}/*"])
        record_company_event(tx, actor, "project.changed", row.company, row.key, fields=["url_patterns"])
    return projects.load_project(tx, actor.viewer, row.key)


def _name_admins(tx: Read, company: int, project: int | None) -> str:
    listed = [member for _, member in members.list_members(tx, company, project, 0, 100)]
    names = [member.name for member in listed if member.role in {"admin", "owner"}]
    return ", ".join(names[:_NAMED_ADMINS]) + (" and others" if len(names) > _NAMED_ADMINS else "")
