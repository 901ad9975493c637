"""What clients learn beside results: how long to keep lists, how large results can be, and who serves them."""

from pathlib import Path
from typing import Any

from mcp.client import Client

from tests.support.mcp_client import NEWEST, modern, talk_over_stdio
from tests.support.server import World, ok


def test_lists_may_be_kept_for_ten_minutes_by_their_client_alone(world: World) -> None:
    token = f"Bearer {world.owner.token('read')}"
    for method in ("tools/list", "prompts/list", "resources/templates/list"):
        result = ok(modern(world, method, Authorization=token))["result"]
        assert (result["ttlMs"], result["cacheScope"]) == (600_000, "private"), method
    tickets = ok(modern(world, "resources/list", Authorization=token))["result"]
    assert tickets["ttlMs"] == 0


def test_large_results_are_announced(world: World) -> None:
    listed = ok(modern(world, "tools/list", Authorization=f"Bearer {world.owner.token('read')}"))["result"]["tools"]
    for tool in listed:
        large = tool.get("_meta", {}).get("anthropic/maxResultSizeChars")
        assert (large == 100_000) == ("detail" in tool["inputSchema"]["properties"]), tool["name"]


def test_server_has_an_icon_and_a_website(world: World) -> None:
    answer = modern(world, "server/discover", Authorization=f"Bearer {world.owner.token('read')}")
    (info,) = [value for value in ok(answer)["result"]["_meta"].values() if isinstance(value, dict)]
    assert info["websiteUrl"] == world.box.url
    assert info["icons"][0]["src"] == f"{world.box.url}/static/icon.svg"
    assert world.box.client(None).get(info["icons"][0]["src"]).headers["content-type"].startswith("image/svg+xml")


def test_local_server_passes_the_hints_on(world: World, tmp_path: Path) -> None:
    environment = {"TICKETBOX_URL": world.box.url, "SERVICE_API_TOKEN": world.owner.token("read")}

    async def work(client: Client) -> Any:
        return await client.list_tools()

    assert talk_over_stdio(NEWEST, environment, tmp_path / "log", work).ttl_ms == 600_000
