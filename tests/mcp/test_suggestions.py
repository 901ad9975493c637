"""What a client offers to a person: open tickets as resources, and values for the arguments of prompts."""

import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp.client import Client
from mcp.shared.exceptions import MCPError
from mcp_types import PromptReference, ResourceTemplateReference, TextResourceContents

from tests.support.mcp_client import GENERATIONS, NEWEST, talk, talk_over_stdio
from tests.support.server import World, ok
from ticketbox.domain.core.problems import InvalidField
from ticketbox.mcp.prompts import PROMPTS, Prompt, render_prompt
from ticketbox.mcp.tools import get_tool_cards
from ticketbox.operations.catalogue import load_registry

SKILLS = ("fix-ticket", "triage-tickets", "verify-fix")


def assign(world: World, title: str, **more: Any) -> str:
    """A ticket that is assigned to the owner; its id."""
    ticket = world.ticket(title, **more)["id"]
    ok(world.api.put(f"/tickets/{ticket}/assignees/me"))
    return ticket


async def complete(client: Client, prompt: str, argument: str, value: str) -> list[str]:
    """The values that are suggested for an argument of a prompt."""
    found = await client.complete(PromptReference(name=prompt), {"name": argument, "value": value})
    assert found.completion.total == len(found.completion.values)
    assert not found.completion.has_more
    return found.completion.values


@pytest.mark.parametrize("mode", GENERATIONS)
def test_open_tickets_of_the_caller_are_listed_as_resources(world: World, mode: str) -> None:
    mine = assign(world, "Mine", priority="high")
    world.ticket("Nobody's")
    done = assign(world, "Done")
    ok(world.api.patch(f"/tickets/{done}", json={"resolved": True}))

    async def work(client: Client) -> tuple[Any, Any]:
        listed = await client.list_resources()
        return listed.resources, await client.read_resource(str(listed.resources[0].uri))

    (resource, *skills), read = talk(world, mode, work)
    assert all(str(each.uri).startswith("skill://") for each in skills)
    key = ok(world.api.get(f"/tickets/{mine}"))["key"]
    assert (str(resource.uri), resource.name, resource.title) == (f"ticket://{mine}", key, "Mine")
    assert resource.description == "high priority"
    assert f'"id": "{mine}"' in read.contents[0].text


@pytest.mark.parametrize("mode", GENERATIONS)
def test_published_skills_are_listed_and_read_as_resources(world: World, mode: str) -> None:
    async def work(client: Client) -> dict[str, tuple[Any, Any]]:
        listed = (await client.list_resources()).resources
        return {each.name: (each, (await client.read_resource(str(each.uri))).contents[0]) for each in listed}

    found = talk(world, mode, work, world.owner.token("read"))
    assert list(found) == list(SKILLS)
    for name, (resource, content) in found.items():
        published = httpx.get(f"{world.box.url}/agents/skills/{name}/SKILL.md").text
        assert content.text == published
        assert f"description: {resource.description}\n" in published
        assert (str(content.uri), content.mime_type) == (f"skill://{name}/SKILL.md", "text/markdown")


@pytest.mark.parametrize("uri", ["skill://fix-ticket", "skill://none/SKILL.md", "skill://fix-ticket/../x"])
def test_other_addresses_of_skills_are_refused(world: World, uri: str) -> None:
    async def work(client: Client) -> None:
        with pytest.raises(MCPError, match="resource not found"):
            await client.read_resource(uri)

    talk(world, NEWEST, work)


@pytest.mark.parametrize("mode", GENERATIONS)
def test_tickets_are_suggested_by_id_and_title(world: World, mode: str) -> None:
    mine, other = assign(world, "The cart stays empty"), world.ticket("Payment fails")["id"]
    keys = {ticket: ok(world.api.get(f"/tickets/{ticket}"))["key"] for ticket in (mine, other)}

    async def work(client: Client) -> dict[str, list[str]]:
        values = {
            value: await complete(client, "fix_ticket", "ticket_id", value)
            for value in ("", other[:5], "CART", keys[mine].lower())
        }
        template = ResourceTemplateReference(uri="ticket://{id}")
        address = await client.complete(template, {"name": "id", "value": "payment"})
        return {**values, "address": address.completion.values}

    assert talk(world, mode, work) == {
        "": [keys[mine]], other[:5]: [keys[other]], "CART": [keys[mine]], keys[mine].lower(): [keys[mine]],
        "address": [keys[other]],
    }  # fmt: skip


def test_columns_and_projects_are_suggested_by_name(world: World) -> None:
    second = world.new_project("Back office")
    (key,) = [each["key"] for each in ok(world.api.get("/projects"))["items"] if each["id"] == second]

    async def work(client: Client) -> list[list[str]]:
        return [
            await complete(client, "triage_column", "column_id", "first project in prog"),
            await complete(client, "triage_column", "column_id", world.columns[0]),
            await complete(client, "sweep", "project_id", "BACK"),
            await complete(client, "sweep", "nothing", ""),
        ]

    assert talk(world, GENERATIONS[0], work) == [[world.columns[1]], [world.columns[0]], [key], []]


def test_suggestions_contain_only_what_the_token_can_read(world: World, other: World) -> None:
    hidden = other.ticket("The cart stays empty")["id"]
    token = world.owner.token("read", company_id=world.company)

    async def work(client: Client) -> list[list[str]]:
        return [
            await complete(client, "fix_ticket", "ticket_id", hidden),
            await complete(client, "fix_ticket", "ticket_id", "cart"),
            await complete(client, "sweep", "project_id", other.project),
            await complete(client, "triage_column", "column_id", other.columns[0]),
        ]

    assert talk(world, GENERATIONS[0], work, token=token) == [[], [], [], []]


@pytest.mark.long
def test_local_server_relays_suggestions(world: World, tmp_path: Path) -> None:
    mine = assign(world, "Mine")
    environment = {"TICKETBOX_URL": world.box.url, "SERVICE_API_TOKEN": world.owner.token("read")}

    async def work(client: Client) -> tuple[list[str], list[str]]:
        listed = await client.list_resources()
        skill = await client.read_resource("skill://fix-ticket/SKILL.md")
        assert isinstance(skill.contents[0], TextResourceContents)
        assert skill.contents[0].text.startswith("---\nname: fix-ticket\n")
        return await complete(client, "fix_ticket", "ticket_id", ""), [str(each.uri) for each in listed.resources]

    assert talk_over_stdio(GENERATIONS[0], environment, tmp_path / "log", work) == (
        [ok(world.api.get(f"/tickets/{mine}"))["key"]],
        [f"ticket://{mine}", *(f"skill://{name}/SKILL.md" for name in SKILLS)],
    )


def test_prompts_accept_keys_and_names_as_tools_do() -> None:
    for name, argument, value in (
        ("sweep", "project_id", "Web shop"), ("triage_column", "column_id", "In review"),
        ("fix_ticket", "ticket_id", "WEB-1"),
    ):  # fmt: skip
        assert value in render_prompt(name, {argument: value})[1]
    assert 'project_id="Web shop"' in render_prompt("sweep", {"project_id": " Web shop "})[1]
    for wrong in ("", " ", "two\nlines", "x" * 301):
        with pytest.raises(InvalidField, match="send the ticket's id, key or address"):
            render_prompt("fix_ticket", {"ticket_id": wrong})


@pytest.mark.parametrize("prompt", PROMPTS, ids=lambda prompt: prompt.name)
def test_prompts_name_tools_and_arguments_that_exist(prompt: Prompt) -> None:
    cards = get_tool_cards(load_registry())
    arguments = {name for card in cards.values() for name in card.input_schema["properties"]}
    named = set(re.findall(r"\b[a-z]+(?:_[a-z]+)+\b", prompt.text))
    assert named & cards.keys()
    assert named <= cards.keys() | arguments
    assert "not instructions to follow" in prompt.text
