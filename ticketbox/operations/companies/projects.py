"""Projects. Each has one board, and a policy for what the extension collects."""

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from ticketbox.domain.companies import project_keys
from ticketbox.domain.companies.mask_selectors import is_mask_selector
from ticketbox.domain.companies.records import (
    DEFAULT_REPLAY_SECONDS,
    Actions,
    Bodies,
    CapturePolicy,
    PageSourceMaps,
    PageStorage,
    Project,
)
from ticketbox.domain.core.access.policy import Actor, require_confirmation, require_role
from ticketbox.domain.core.access.scopes import Access, Role, Scope
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.patterns import match_whole
from ticketbox.domain.core.problems import Conflict, InvalidField, InvalidRequest, PasswordRequired
from ticketbox.operations.companies.verifiers import Verifiers, check_verifiers
from ticketbox.operations.core.inputs import Label, Name
from ticketbox.operations.core.lookups import CompanyId, Key, ProjectId, find_membership, find_writable
from ticketbox.operations.core.names import explain_empty_list, resolve_company_id
from ticketbox.operations.core.paging import Cursor, Limit, Page, build_page, decode_cursor
from ticketbox.operations.core.recording import record_company_event
from ticketbox.operations.core.registry import Tool, operation
from ticketbox.store.companies import members, projects
from ticketbox.store.companies import project_keys as stored_keys
from ticketbox.store.core import bylines
from ticketbox.store.file.database import Read, Write

MAX_URL_PATTERNS = 50
UrlPatterns = Annotated[
    list[
        Annotated[
            str,
            Meta(
                min_length=1,
                max_length=500,
                description="A glob for page addresses; `*` matches any characters.",
                examples=["https://shop.example/*"],
            ),
            match_whole(r"[^\x00-\x20\x7f]+"),
        ]
    ],
    Meta(max_length=MAX_URL_PATTERNS, description="The addresses of the pages that belong to the project."),
]


ProjectKey = Annotated[
    str,
    Meta(
        min_length=project_keys.MIN_LENGTH,
        max_length=project_keys.MAX_LENGTH,
        description="2 to 5 capital letters and digits that begin the keys of tickets, unique in the company.",
        examples=["WEB"],
    ),
    match_whole(project_keys.PATTERN),
]


DECLARED_NAME = r"(meta:[\w.:-]+|[A-Za-z_$][\w$]*(\.[A-Za-z_$][\w$]*)*)"
NEW_POLICY = CapturePolicy(
    Bodies.SHAPE, [], Actions.ON, DEFAULT_REPLAY_SECONDS, [], PageSourceMaps.ON, [], PageStorage.SHAPE
)


class PolicyInput(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """What captures of this project can contain."""

    bodies: (
        Annotated[
            Bodies,
            Meta(
                description="Bodies of requests: none, with stand-ins, or complete. Default: unchanged; shape if new."
            ),
        ]
        | UnsetType
    ) = UNSET
    extra_redactions: Annotated[
        list[Annotated[str, Meta(min_length=3, max_length=100), match_whole(r"[^\x00-\x1f\x7f]+")]],
        Meta(
            max_length=50,
            description="What to redact besides the defaults: names of keys, `text:` and a literal, `format:email`.",
        ),
    ] = []
    actions: Annotated[Actions, Meta(description="Whether what the person did is collected, without values.")] = (
        Actions.ON
    )
    replay: Annotated[
        Literal[0, 30, 60, 120] | bool,
        Meta(
            description="The seconds of the page that a replay shows: 30 (or true), 60, 120, or 0 (or false) for none."
        ),
    ] = DEFAULT_REPLAY_SECONDS
    mask_selectors: (
        Annotated[
            list[Annotated[str, Meta(min_length=1, max_length=200, examples=[".customer-name"])]],
            Meta(
                max_length=20,
                description="CSS selectors of what replays, pictures and steps hide. Default: unchanged.",
            ),
        ]
        | UnsetType
    ) = UNSET
    page_source_maps: (
        Annotated[
            PageSourceMaps,
            Meta(
                description="Whether the extension resolves stacks with the maps that a page can load. "
                "Default: unchanged; on if new."
            ),
        ]
        | UnsetType
    ) = UNSET

    declared_names: (
        Annotated[
            list[Annotated[str, Meta(max_length=100, examples=["app.flags"]), match_whole(DECLARED_NAME)]],
            Meta(
                max_length=20,
                description="Names of global variables (`app.flags`) and meta elements (`meta:build`) whose values "
                "are collected. Default: unchanged.",
            ),
        ]
        | UnsetType
    ) = UNSET

    storage: (
        Annotated[
            PageStorage,
            Meta(
                description="A page's storage: nothing, names, or also stand-ins of the values at the beginning. "
                "Default: unchanged; shape if new."
            ),
        ]
        | UnsetType
    ) = UNSET

    def build_policy(self, before: CapturePolicy) -> CapturePolicy:
        """Return the policy as it is stored and shown. `before` has what isn't sent. Raises InvalidField."""
        replay = self.replay * DEFAULT_REPLAY_SECONDS if isinstance(self.replay, bool) else self.replay
        bodies = before.bodies if isinstance(self.bodies, UnsetType) else self.bodies
        masks = before.mask_selectors if isinstance(self.mask_selectors, UnsetType) else self.mask_selectors
        for index, each in enumerate(masks):
            if not is_mask_selector(each):
                raise InvalidField(
                    f"capture_policy.mask_selectors[{index}]",
                    "use one CSS selector, such as `.customer-name` or `#orders td:nth-child(2)`, without a comma",
                )
        maps = before.page_source_maps if isinstance(self.page_source_maps, UnsetType) else self.page_source_maps
        names = before.declared_names if isinstance(self.declared_names, UnsetType) else self.declared_names
        storage = before.storage if isinstance(self.storage, UnsetType) else self.storage
        return CapturePolicy(
            bodies, list(self.extra_redactions), self.actions, replay, list(masks), maps, list(dict.fromkeys(names)),
            storage,
        )  # fmt: skip


class ListProjects(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Only projects that the token can access are listed."""

    company_id: CompanyId | None = None
    limit: Limit = 50
    cursor: Cursor | None = None


@operation(
    "list_projects",
    scope=Scope.READ,
    budget=Budget.READ,
    rest="GET /projects",
    tool=Tool(
        "List projects",
        "Use this to see which projects there are before you list or create tickets.",
        {"company_id": "co_7h2k9m4p1r6t"},
        tool_set="core",
    ),
)
def list_projects(tx: Read, actor: Actor, args: ListProjects) -> Page[Project]:
    """List the projects that the caller can access."""
    (after,) = decode_cursor(actor, args) or (0,)
    company = None if args.company_id is None else resolve_company_id(actor, args.company_id)
    page = build_page(actor, args, projects.list_projects(tx, actor.viewer, company, after, args.limit + 1))
    if page.items or after:
        return page
    return msgspec.structs.replace(page, note=explain_empty_list(tx, actor, company=company))


class CreateProject(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A new project gets the columns To do, In progress and Done. By default, its key is derived from its name."""

    company_id: CompanyId
    name: Annotated[Name, Meta(description="The project's name.")]
    key: ProjectKey | None = None
    url_patterns: UrlPatterns = []
    capture_policy: PolicyInput = PolicyInput()
    idempotency_key: Key | None = None


@operation(
    "create_project", scope=Access.SESSION, budget=Budget.WRITE, rest="POST /companies/{company_id}/projects",
    refuses=(Conflict,), creates=True,
    example={"company_id": "co_7h2k9m4p1r6t", "name": "Webshop", "key": "WEB", "url_patterns": ["https://shop.example/*"]},
)  # fmt: skip
def create_project(tx: Write, actor: Actor, args: CreateProject) -> Project:
    """Create a project in a company. Requires the role admin."""
    membership = find_membership(actor, args.company_id)
    require_role(membership.role, Role.ADMIN)
    key, name = membership.company, args.name.strip()
    if args.key is not None:
        _check_key(tx, key, None, args.key)
    policy = args.capture_policy.build_policy(NEW_POLICY)
    return insert_project(tx, actor, key, name, args.url_patterns, policy, ticket_prefix=args.key)


def _check_key(tx: Read, company: int, project: int | None, key: str) -> None:
    """Raise Conflict if another project of the company has a key, or had it: its tickets keep their old keys."""
    if stored_keys.find_owner(tx, company, key) not in {None, project}:
        raise Conflict(f"another project of the company has the key {key}, or had it; choose another")


def insert_project(
    tx: Write,
    actor: Actor,
    company: int,
    name: str,
    patterns: list[str],
    policy: CapturePolicy,
    *,
    ticket_prefix: str | None = None,
) -> Project:
    """Insert a project and record it. An admin who is restricted to some projects gets access to this one too."""
    prefix = ticket_prefix or stored_keys.choose_key(tx, company, name)
    key = projects.insert_project(tx, company, name, prefix, patterns, policy, bylines.ensure_byline(tx, actor))
    members.grant_project(tx, company, actor.user, key)
    project = projects.load_project(tx, actor.viewer, key)
    record_company_event(tx, actor, "project.created", company, key, project_id=project.id, name=name)
    return project


class UpdateProject(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Fields that aren't sent don't change."""

    project_id: ProjectId
    name: Annotated[Name, Meta(description="The project's name.")] | UnsetType = UNSET
    key: ProjectKey | UnsetType = UNSET
    url_patterns: UrlPatterns | UnsetType = UNSET
    capture_policy: PolicyInput | UnsetType = UNSET
    agent_label: Annotated[Label, Meta(description="The label that sends a ticket to agents.")] | UnsetType = UNSET
    plan_approval: (
        Annotated[bool, Meta(description="Whether an agent's work waits until a person approves its plan.")] | UnsetType
    ) = UNSET
    done_approval: (
        Annotated[bool, Meta(description="Whether a person decides that an agent's ticket is done.")] | UnsetType
    ) = UNSET
    verification: (
        Annotated[bool, Meta(description="Whether an agent's ticket is done only with verifications.")] | UnsetType
    ) = UNSET
    verifiers: Verifiers | UnsetType = UNSET


@operation(
    "update_project", scope=Access.SESSION, budget=Budget.WRITE, rest="PATCH /projects/{project_id}",
    refuses=(Conflict, PasswordRequired),
    example={"project_id": "proj_9w4k2m7x0c3n", "capture_policy": {"bodies": "on"}},
)  # fmt: skip
def update_project(tx: Write, actor: Actor, args: UpdateProject) -> Project:
    """Change a project's name, key, address patterns, capture policy, agent label or gates. Requires the role admin.

    Its tickets get the new key, and their old keys keep working. Turning a gate off, and changing who may
    verify, require that this session confirmed the password.
    """
    gates = ("plan_approval", "done_approval", "verification", "verifiers")
    names = ("name", "key", "url_patterns", "capture_policy", "agent_label", *gates)
    fields = [name for name in names if getattr(args, name) is not UNSET]
    if not fields:
        raise InvalidRequest(f"nothing to change: send one of {', '.join(names)}")
    row = find_writable(tx, actor, "project", args.project_id, Role.ADMIN)
    before = projects.load_project(tx, actor.viewer, row.key)
    turns_off = any(getattr(before, gate) and getattr(args, gate) is False for gate in gates)
    if turns_off or (args.verifiers is not UNSET and set(args.verifiers) != set(before.verifiers)):
        require_confirmation(actor.confirmed)
    policy: CapturePolicy | UnsetType = UNSET
    if not isinstance(args.capture_policy, UnsetType):
        policy = args.capture_policy.build_policy(before.capture_policy)
    if args.key is not UNSET:
        _check_key(tx, row.company, row.key, args.key)
        stored_keys.set_key(tx, row.company, row.key, args.key)
    if not isinstance(args.verifiers, UnsetType):
        check_verifiers(tx, row.key, before.verifiers, args.verifiers)
    projects.update_project(
        tx,
        row.key,
        name=UNSET if args.name is UNSET else args.name.strip(),
        patterns=args.url_patterns,
        agent_label=UNSET if args.agent_label is UNSET else args.agent_label.strip(),
        plan_approval=args.plan_approval,
        done_approval=args.done_approval,
        verification=args.verification,
        verifiers=UNSET if args.verifiers is UNSET else list(dict.fromkeys(args.verifiers)),
        policy=policy,
    )
    record_company_event(tx, actor, "project.changed", row.company, row.key, fields=fields)
    return projects.load_project(tx, actor.viewer, row.key)


class DeleteProject(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Deletion can't be undone. A client with a button for it should send `confirm_name`."""

    project_id: ProjectId
    confirm_name: (
        Annotated[str, Meta(max_length=100, description="Delete only if this is the project's name.")] | None
    ) = None


@operation("delete_project", scope=Access.SESSION, budget=Budget.WRITE, rest="DELETE /projects/{project_id}")
def delete_project(tx: Write, actor: Actor, args: DeleteProject) -> None:
    """Delete a project with its board, tickets and captures. Requires the role admin."""
    row = find_writable(tx, actor, "project", args.project_id, Role.ADMIN)
    project = projects.load_project(tx, actor.viewer, row.key)
    if args.confirm_name not in {None, project.name}:
        raise InvalidRequest("confirm_name isn't the project's name; nothing was deleted")
    projects.delete_project(tx, row.key)
    record_company_event(tx, actor, "project.removed", row.company, project_id=project.id, name=project.name)
