"""Which git repository `ticketbox mcp` sends; a real process in a real repository."""

from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client
from mcp_types import CallToolResult

from tests.support.git import commit, git
from tests.support.mcp_client import GENERATIONS, talk_over_stdio
from tests.support.server import World, ok
from ticketbox.mcp.stdio import REPOSITORY, REPOSITORY_TOOLS
from ticketbox.mcp.tools import get_tool_cards
from ticketbox.operations.catalogue import load_registry


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A repository with a commit and a remote whose address has a password."""
    folder = tmp_path / "shop"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    commit(folder, "cart.js", "x", "Load carts")
    git(folder, "remote", "add", "origin", "https://ann:secret@git.example/shop.git")
    return folder


def connect(world: World) -> dict[str, str]:
    return {"TICKETBOX_URL": world.box.url, "SERVICE_API_TOKEN": world.owner.token("tickets:write")}


def get_fields(result: CallToolResult) -> dict[str, Any]:
    assert not result.is_error, result.content
    assert result.structured_content is not None
    return result.structured_content


@pytest.mark.parametrize("mode", GENERATIONS)
def test_claims_and_reports_carry_the_repository(world: World, mode: str, folder: Path) -> None:
    first, second = world.ticket()["id"], world.ticket()["id"]
    head = git(folder, "rev-parse", "HEAD")
    wanted = {"branch": "main", "commit": head, "remote": "https://git.example/shop.git"}

    async def work(client: Client) -> None:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert all(REPOSITORY not in listed[name].input_schema["properties"] for name in REPOSITORY_TOOLS)
        claimed = get_fields(await client.call_tool("start_work_on_ticket", {"ticket_id": first}))
        assert claimed["claim"]["repository"] == wanted
        read = get_fields(await client.call_tool("get_ticket", {"ticket_id": first}))
        assert read["claim"]["repository"] == wanted
        following = await client.call_tool("claim_next_ticket", {"project_id": world.project})
        assert not following.is_error
        fixed = commit(folder, "cart.js", "y", "Fix carts")
        reported = get_fields(
            await client.call_tool("report_progress", {"ticket_id": first, "lease": claimed["lease"]})
        )
        assert reported["repository"] == {**wanted, "commit": fixed}

    talk_over_stdio(mode, connect(world), folder.parent / "log", work, folder=folder)
    assert ok(world.api.get(f"/tickets/{second}"))["claim"]["repository"] == wanted
    assert "secret" not in world.api.get(f"/tickets/{first}", params={"include": "history"}).text


def test_given_repository_is_kept_and_a_wrong_one_refused(world: World, folder: Path) -> None:
    ticket = world.ticket()["id"]

    async def work(client: Client) -> None:
        for wrong in ({"branch": "a\nb"}, {"branch": "b" * 5_000}, {"remote": "javascript:alert(1)"}):
            given = {"ticket_id": ticket, REPOSITORY: wrong}
            refused = await client.call_tool("start_work_on_ticket", given)
            assert refused.is_error
            assert refused.structured_content is not None
            assert refused.structured_content["code"] == "invalid_request"
            assert f"repository.{next(iter(wrong))}" in refused.structured_content["detail"]
        given = {"ticket_id": ticket, REPOSITORY: {"branch": "other"}}
        claimed = get_fields(await client.call_tool("start_work_on_ticket", given))
        assert claimed["claim"]["repository"] == {"branch": "other"}

    talk_over_stdio("legacy", connect(world), folder.parent / "log", work, folder=folder)


@pytest.mark.parametrize(("options", "environment"), [(["--no-repository"], {}), ([], {"TICKETBOX_REPOSITORY": "0"})])
def test_nothing_is_sent_when_it_is_turned_off(
    world: World, options: list[str], environment: dict[str, str], folder: Path
) -> None:
    ticket = world.ticket()["id"]

    async def work(client: Client) -> None:
        claimed = get_fields(await client.call_tool("start_work_on_ticket", {"ticket_id": ticket}))
        assert REPOSITORY not in claimed["claim"]

    given = {**connect(world), **environment}
    talk_over_stdio("legacy", given, folder.parent / "log", work, *options, folder=folder)


def test_only_claims_and_reports_carry_it_and_only_in_a_repository(world: World, tmp_path: Path) -> None:
    ticket = world.ticket()["id"]

    async def work(client: Client) -> None:
        claimed = get_fields(await client.call_tool("start_work_on_ticket", {"ticket_id": ticket}))
        assert REPOSITORY not in claimed["claim"]

    talk_over_stdio("legacy", connect(world), tmp_path / "log", work, folder=tmp_path)
    cards = get_tool_cards(load_registry()).values()
    assert {card.name for card in cards if REPOSITORY in card.operation.arguments.__struct_fields__} == REPOSITORY_TOOLS
