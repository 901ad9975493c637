"""Projects: one board each."""

from typing import NamedTuple

import msgspec
from msgspec import UNSET, UnsetType

from ticketbox.domain.companies.records import (
    Actions,
    Bodies,
    CapturePolicy,
    ColumnKind,
    PageSourceMaps,
    PageStorage,
    Project,
)
from ticketbox.domain.core.ids import Prefix, generate_id
from ticketbox.store.companies import columns, project_keys
from ticketbox.store.core.bylines import Bylines
from ticketbox.store.core.updates import update_columns
from ticketbox.store.core.visibility import WITH_VISIBLE_PROJECTS, Viewer
from ticketbox.store.file.database import Read, Row, Write

FIRST_COLUMNS = {"To do": ColumnKind.TODO, "In progress": ColumnKind.DOING, "Done": ColumnKind.DONE}

_BODIES = (Bodies.OFF, Bodies.ON, Bodies.SHAPE)  # by the number that is stored

_strings = msgspec.json.Decoder(list[str])

_SELECT_PROJECT = f"""
{WITH_VISIBLE_PROJECTS}
SELECT p.id, p.public_id, v.company_id, p.name, p.key,
  (SELECT json_group_array(k.key) FROM project_key k WHERE k.project_id = p.id AND k.key <> p.key),
  p.url_patterns, p.bodies, p.extra_redactions, p.actions, p.replay, p.mask_selectors, p.page_source_maps,
  p.declared_names, p.page_storage, p.agent_label, p.plan_approval, p.done_approval, p.verification, p.criteria,
  p.verifiers, p.created_at, p.created_by
FROM visible_project v JOIN project p ON p.id = v.id
WHERE v.within
"""


class _ProjectRow(NamedTuple):
    """A row of `_SELECT_PROJECT`."""

    key: int
    id: str
    company_id: str
    name: str
    ticket_prefix: str
    former_prefixes: str
    url_patterns: str
    bodies: int
    extra_redactions: str
    actions: int
    replay: int
    mask_selectors: str
    page_source_maps: int
    declared_names: str
    page_storage: str
    agent_label: str
    plan_approval: int
    done_approval: int
    verification: int
    criteria: int
    verifiers: str
    created_at: int
    created_by: int


SELECT_PROJECTS = f"""{_SELECT_PROJECT} AND (:company IS NULL OR v.company_id = :company) AND p.id > :after
ORDER BY p.id LIMIT :limit"""
SELECT_PROJECT = f"{_SELECT_PROJECT} AND p.id = :key"


def list_projects(tx: Read, viewer: Viewer, company: str | None, after: int, limit: int) -> list[tuple[int, Project]]:
    """List the projects that the viewer sees, oldest first, each with its key."""
    return _build_projects(
        tx, tx.fetch_all(SELECT_PROJECTS, {**viewer, "company": company, "after": after, "limit": limit})
    )


def load_project(tx: Read, viewer: Viewer, key: int) -> Project:
    """Load a project that the viewer sees."""
    return _build_projects(tx, tx.fetch_all(SELECT_PROJECT, {**viewer, "key": key}))[0][1]


def _build_projects(tx: Read, records: list[Row]) -> list[tuple[int, Project]]:
    rows = [_ProjectRow._make(row) for row in records]
    bylines = Bylines(tx, [row.created_by for row in rows])
    return [
        (
            row.key,
            Project(
                id=row.id,
                company_id=row.company_id,
                name=row.name,
                key=row.ticket_prefix,
                former_keys=_strings.decode(row.former_prefixes),
                url_patterns=_strings.decode(row.url_patterns),
                capture_policy=CapturePolicy(
                    bodies=_BODIES[row.bodies],
                    extra_redactions=_strings.decode(row.extra_redactions),
                    actions=Actions.ON if row.actions else Actions.OFF,
                    replay=row.replay,
                    mask_selectors=_strings.decode(row.mask_selectors),
                    page_source_maps=PageSourceMaps.ON if row.page_source_maps else PageSourceMaps.OFF,
                    declared_names=_strings.decode(row.declared_names),
                    storage=PageStorage(row.page_storage),
                ),
                agent_label=row.agent_label,
                plan_approval=bool(row.plan_approval),
                done_approval=bool(row.done_approval),
                verification=bool(row.verification),
                criteria=bool(row.criteria),
                verifiers=_strings.decode(row.verifiers),
                created=bylines.build(row.created_by, row.created_at),
            ),
        )
        for row in rows
    ]


INSERT_PROJECT = """
INSERT INTO project (public_id, company_id, name, url_patterns, bodies, extra_redactions, actions, replay,
  mask_selectors, page_source_maps, declared_names, page_storage, created_at, created_by)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""


def insert_project(
    tx: Write, company: int, name: str, ticket_prefix: str, patterns: list[str], policy: CapturePolicy, byline: int
) -> int:
    """Insert a project with its first columns; return its key."""
    collected = (
        _BODIES.index(policy.bodies),
        _encode_json(policy.extra_redactions),
        policy.actions is Actions.ON,
        policy.replay,
        _encode_json(policy.mask_selectors),
        policy.page_source_maps is PageSourceMaps.ON,
        _encode_json(policy.declared_names),
        policy.storage.value,
    )
    values = (generate_id(Prefix.PROJECT), company, name, _encode_json(patterns), *collected, tx.now, byline)
    key = tx.insert(INSERT_PROJECT, values)
    project_keys.set_key(tx, company, key, ticket_prefix)
    for column, kind in FIRST_COLUMNS.items():
        columns.insert_column(tx, key, column, kind)
    return key


def update_project(
    tx: Write,
    key: int,
    *,
    name: str | UnsetType = UNSET,
    patterns: list[str] | UnsetType = UNSET,
    policy: CapturePolicy | UnsetType = UNSET,
    agent_label: str | UnsetType = UNSET,
    plan_approval: bool | UnsetType = UNSET,
    done_approval: bool | UnsetType = UNSET,
    verification: bool | UnsetType = UNSET,
    criteria: bool | UnsetType = UNSET,
    verifiers: list[str] | UnsetType = UNSET,
) -> None:
    """Update the fields that are set."""
    update_columns(
        tx,
        "project",
        key,
        name=name,
        agent_label=agent_label,
        plan_approval=plan_approval,
        done_approval=done_approval,
        verification=verification,
        criteria=criteria,
        verifiers=UNSET if verifiers is UNSET else _encode_json(verifiers),
        url_patterns=UNSET if patterns is UNSET else _encode_json(patterns),
        bodies=UNSET if policy is UNSET else _BODIES.index(policy.bodies),
        extra_redactions=UNSET if policy is UNSET else _encode_json(policy.extra_redactions),
        actions=UNSET if policy is UNSET else policy.actions is Actions.ON,
        replay=UNSET if policy is UNSET else policy.replay,
        mask_selectors=UNSET if policy is UNSET else _encode_json(policy.mask_selectors),
        page_source_maps=UNSET if policy is UNSET else policy.page_source_maps is PageSourceMaps.ON,
        declared_names=UNSET if policy is UNSET else _encode_json(policy.declared_names),
        page_storage=UNSET if policy is UNSET else policy.storage.value,
    )


SELECT_AGENT_LABEL = "SELECT agent_label FROM project WHERE id = ?"


def load_agent_label(tx: Read, key: int) -> str:
    """Load the label that sends a project's tickets to agents."""
    return tx.fetch_value(SELECT_AGENT_LABEL, (key,))


class Gates(NamedTuple):
    """What a project requires of agents: that a person approves their plan and their result, verifications, and proof
    of every criterion.

    `verifiers` is the JSON list of the users and tokens whose verifications and evidence count; everybody's, if empty.
    """

    plan_approval: int
    done_approval: int
    verification: int
    criteria: int
    verifiers: str


SELECT_GATES = "SELECT plan_approval, done_approval, verification, criteria, verifiers FROM project WHERE id = ?"


def load_gates(tx: Read, key: int) -> Gates:
    """Load the gates of a project that exists."""
    row = tx.fetch_one(SELECT_GATES, (key,))
    assert row is not None
    return Gates._make(row)


def delete_project(tx: Write, key: int) -> None:
    """Delete a project with its columns and tickets."""
    tx.execute("DELETE FROM project WHERE id = ?", (key,))


SELECT_PROJECT_KEY = "SELECT id FROM project WHERE public_id = ? AND company_id = ?"


def find_project_key(tx: Read, public_id: str, company: int) -> int | None:
    """Find a project's key within a company."""
    return tx.fetch_value(SELECT_PROJECT_KEY, (public_id, company))


SELECT_URL_PATTERNS = f"""
{WITH_VISIBLE_PROJECTS}
SELECT p.public_id, p.url_patterns FROM visible_project v JOIN project p ON p.id = v.id
WHERE v.within AND p.url_patterns <> '[]' ORDER BY p.id
"""


def list_url_patterns(tx: Read, viewer: Viewer) -> list[tuple[str, list[str]]]:
    """List the URL patterns of the projects that the viewer sees, oldest project first."""
    rows = tx.fetch_all(SELECT_URL_PATTERNS, viewer)
    return [(public_id, _strings.decode(patterns)) for public_id, patterns in rows]


def _encode_json(value: object) -> str:
    return msgspec.json.encode(value).decode()
