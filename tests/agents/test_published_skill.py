"""The calls of a triage skill that another tracker publishes, with the names of its tools mapped to ours.

The skill is Toado's, and what is here are the names of tools and arguments in its documentation (docs.toado.dev:
"toado-triage skill", "Fix a ticket end-to-end", "Triage a whole column", "Tools reference", version 0.1.4): facts that
people's own skills and habits rely on. No argument may be refused for its name.
"""

from typing import Any, NamedTuple

import pytest

from tests.support.mcp_client import call_tool, create_capture
from tests.support.server import World, ok

TOOLS = {"get_capture_asset": "get_screenshot"}  # the others have the same names


class Run(NamedTuple):
    """A company with a ticket, and what the skill has resolved at its start."""

    world: World
    token: str
    ids: dict[str, Any]


@pytest.fixture
def run(world: World) -> Run:
    """A run of the skill on a board with its columns."""
    ok(world.owner.web.post(f"/projects/{world.project}/columns", json={"name": "In Review"}))
    columns = {each["name"]: each["id"] for each in ok(world.api.get(f"/projects/{world.project}/columns"))["items"]}
    ids = {
        "company": world.company, "project": world.project, "todo": columns["To do"], "review": columns["In Review"],
        "done": columns["Done"], "ticket": create_capture(world)["ticket_id"], "second": world.ticket("Second")["id"],
    }  # fmt: skip
    return Run(world, world.owner.token("tickets:write", company_id=world.company), ids)


# A name in braces is an id of the run.
RESOLVE: list[tuple[str, dict[str, Any]]] = [
    ("list_companies", {}),
    ("list_projects", {"company_id": "{company}"}),
    ("list_columns", {"project_id": "{project}"}),
]
READ: list[tuple[str, dict[str, Any]]] = [
    ("list_tickets", {"project_id": "{project}", "column_id": "{todo}", "limit": 1}),
    ("list_tickets", {"project_id": "{project}", "column_id": "{todo}", "status": "active", "limit": 20}),
    ("list_tickets", {"project_id": "{project}", "column_id": "{todo}", "query": "second", "limit": 20}),
    ("get_ticket", {"ticket_id": "{ticket}", "include": ["capture", "comments", "annotations"]}),
    ("get_capture_asset", {"ticket_id": "{ticket}", "asset": "screenshot_with_annotations"}),
    ("get_capture_asset", {"ticket_id": "{ticket}", "asset": "screenshot"}),
    ("list_comments", {"ticket_id": "{ticket}"}),
]
FIX: list[tuple[str, dict[str, Any]]] = [
    ("start_work_on_ticket", {"ticket_id": "{ticket}", "branch_name": "t-cart"}),
    ("add_comment", {"ticket_id": "{ticket}", "body": "Fixed in abc1234."}),
    ("move_ticket", {"ticket_id": "{ticket}", "target_column_id": "{review}"}),
    ("start_work_on_ticket", {"ticket_ids": ["{second}"], "branch_name": "t-bundle-visual-cleanup"}),
    ("bulk_move_tickets", {"ticket_ids": ["{ticket}", "{second}"], "target_column_id": "{done}"}),
]


def fill(value: Any, ids: dict[str, Any]) -> Any:
    """Put the ids of a run into arguments."""
    if isinstance(value, dict):
        return {name: fill(each, ids) for name, each in value.items()}
    if isinstance(value, list):
        return [fill(each, ids) for each in value]
    return value.format(**ids) if isinstance(value, str) else value


@pytest.mark.long
def test_skill_runs_without_a_refused_argument(run: Run) -> None:
    for tool, arguments in RESOLVE + READ + FIX:
        answer = call_tool(run.world, run.token, TOOLS.get(tool, tool), fill(arguments, run.ids))
        assert not answer.get("isError"), (tool, arguments, answer["content"])
        if arguments.get("query"):
            found = answer["structuredContent"]["items"]
            assert [each["id"] for each in found] == [run.ids["second"]]
        if "results" in answer.get("structuredContent", {}):
            assert [each["ok"] for each in answer["structuredContent"]["results"]] == [True, True]
    for name in ("ticket", "second"):
        left = ok(run.world.api.get(f"/tickets/{run.ids[name]}"))
        assert (left["column"], left["resolved"]) == ("Done", True)
    assert left["branch"] == "t-bundle-visual-cleanup"


def test_several_tickets_in_one_claim_are_refused_by_value_not_by_name(run: Run) -> None:
    """One claim belongs to one ticket; the refusal names the argument that the tool has."""
    both = {"ticket_ids": [run.ids["ticket"], run.ids["second"]], "branch_name": "t-bundle"}
    refused = call_tool(run.world, run.token, "start_work_on_ticket", both)["structuredContent"]
    assert [each["field"] for each in refused["errors"]] == ["ticket_id"]
