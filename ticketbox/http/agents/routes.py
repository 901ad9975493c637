"""The routes of the files for coding agents (docs/use/agents.md, "Files for agents"). They need no credential."""

import functools

import msgspec
from litestar import get
from litestar.handlers import HTTPRouteHandler

from ticketbox.domain.core.problems import NotFound
from ticketbox.edge.responses import Answer, Headers
from ticketbox.http.agents.files import build_plugin, describe_server, render_file, render_skills

_HEADERS: Headers = [(b"cache-control", b"max-age=3600")]
_MARKDOWN = "text/markdown; charset=utf-8"
_TEXT = "text/plain; charset=utf-8"


def build_routes(public_url: str) -> list[HTTPRouteHandler]:
    """Create the routes, with the instance's address in each file."""

    @get("/llms.txt")
    async def send_llms_txt() -> Answer:
        """Send an overview of the instance for language models (llmstxt.org)."""
        return _send(render_file("llms.txt", public_url), _TEXT)

    @get("/agents/AGENTS.md")
    async def send_agents_md() -> Answer:
        """Send the lines for a repository's AGENTS.md."""
        return _send(render_file("AGENTS.md", public_url), _MARKDOWN)

    @get("/agents/server.json")
    async def send_server_json() -> Answer:
        """Send the description of the MCP server for registries."""
        return _send(msgspec.json.encode(describe_server(public_url)).decode(), "application/json")

    @get("/agents/skills/{name:str}/SKILL.md")
    async def send_skill(name: str) -> Answer:
        """Send an agent skill (agentskills.io)."""
        text = render_skills(public_url).get(name)
        if text is None:
            raise NotFound("skill")
        return _send(text, _MARKDOWN)

    @functools.cache
    def load_plugin() -> bytes:
        return build_plugin(public_url)

    @get("/agents/claude-plugin.zip")
    async def send_plugin() -> Answer:
        """Send the plugin for Claude Code."""
        disposition = (b"content-disposition", b'attachment; filename="ticketbox-plugin.zip"')
        return Answer(200, load_plugin(), "application/zip", [*_HEADERS, disposition])

    return [send_llms_txt, send_agents_md, send_server_json, send_skill, send_plugin]


def _send(text: str, media_type: str) -> Answer:
    return Answer(200, text.encode(), media_type, list(_HEADERS))
