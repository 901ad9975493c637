"""Write docs/reference from the code, or check that it is what the code says.

    uv run --group dev python packaging/reference.py          after an operation, a command or a problem changed
    uv run --group dev python packaging/reference.py --check  in the tests

Nothing in docs/reference is written by hand.
"""

import json
import re
import sys
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

import click

from ticketbox.cli import main as ticketbox
from ticketbox.domain.core.limits import Budget
from ticketbox.domain.core.problems import PROBLEMS, Problem
from ticketbox.domain.core.scopes import Access
from ticketbox.http.openapi import document, reference
from ticketbox.mcp import prompts, tools
from ticketbox.operations.catalogue import registry
from ticketbox.operations.core.registry import Operation

FOLDER = Path(__file__).parent.parent / "docs" / "reference"
ADDRESS = "http://localhost:8420"
WIDTH = 100
MADE = "<!-- Made by packaging/reference.py. Change the code, then run it. -->\n\n"

_STATUSES = [each.status for each in PROBLEMS]
_AMBIGUOUS = {status for status in _STATUSES if _STATUSES.count(status) > 1}
_ACCESS = {Access.ANY: "any token", Access.SESSION: "web session", Access.PUBLIC: "no credential"}


def main() -> int:
    """Write the pages, or compare them; the exit status says whether they hold."""
    checking = "--check" in sys.argv[1:]
    stale = [name for name, text in pages().items() if not _is(name, text)]
    for name in stale:
        if checking:
            print(f"docs/reference/{name} isn't what the code says; run packaging/reference.py", file=sys.stderr)
        else:
            FOLDER.mkdir(parents=True, exist_ok=True)
            (FOLDER / name).write_text(pages()[name], "utf-8")
            print(f"docs/reference/{name} is written")
    return int(checking and bool(stale))


def pages() -> dict[str, str]:
    """Every page of the reference, by its file's name."""
    described = document.document(registry(), ADDRESS)
    return {
        "api.md": MADE + _api(described),
        "errors.md": MADE + _errors(),
        "cli.md": MADE + _commands(),
        "tools.md": MADE + _tools(),
        "openapi.json": json.dumps(described, indent=2, ensure_ascii=False) + "\n",
    }


def _is(name: str, text: str) -> bool:
    page = FOLDER / name
    return page.exists() and page.read_text("utf-8") == text


def _api(document: dict[str, Any]) -> str:
    known = document["components"]["schemas"].keys()
    parts = [
        "# API reference",
        "Every operation, its inputs and its answers. [The guide](../use/api.md) says what they have in common; "
        "[the errors](errors.md) are listed apart. The same for machines: [openapi.json](openapi.json).",
        "## All operations",
        _table(("operation", "method and path", "needs", "budget"), _summary()),
    ]
    for name, entries in reference.groups(document):
        parts.append(f"## {name}")
        for entry in entries:
            parts += _entry(entry, known)
    parts.append("## Records")
    parts.append("What the answers hold, and what the inputs refer to. A type in the tables above stands here.")
    for name, description, fields in reference.records(document):
        parts += [f"### {name}", description]
        if fields:
            rows = [(_code(f.name), _linked(f.kind, known), f.description) for f in fields]
            parts.append(_table(("field", "type", "what"), rows))
    return "\n\n".join(part for part in parts if part) + "\n"


def _summary() -> Iterator[tuple[str, ...]]:
    for route, operation in registry().routes():
        link = f"[{operation.name}](#{operation.name})"
        yield link, _code(f"{route.method} {route.path}"), needs(operation), _budget(operation)


def needs(operation: Operation) -> str:
    """Who may call an operation, in the words of the tables."""
    scope = operation.scope
    return _ACCESS[scope] if isinstance(scope, Access) else _code(scope.value)


def _budget(operation: Operation) -> str:
    return "" if operation.budget is Budget.NONE else operation.budget.value


def _entry(entry: reference.Entry, known: Collection[str]) -> list[str]:
    fields = [
        (_code(f.name) + (" required" if f.required else ""), f.place, _linked(f.kind, known), f.description)
        for f in entry.fields
    ]
    given = [f"{status} {_linked(words, known)}" for status, words in entry.answers if int(status) < 400]
    refused = [
        f"{status} {words}" if int(status) in _AMBIGUOUS else status
        for status, words in entry.answers
        if int(status) >= 400
    ]
    return [
        f"### {entry.name}",
        f"{_code(entry.method + ' ' + entry.path)}",
        f"{entry.summary}. {entry.description}",
        _table(("input", "in", "type", "what"), fields) if fields else "",
        f"```json\n{entry.example}\n```" if entry.example else "",
        f"Answers: {', '.join(given)}. [Refusals](errors.md): {', '.join(refused)}.",
    ]


def _linked(kind: str, known: Collection[str]) -> str:
    """The names of records in a type, as links to them."""
    return re.sub(r"\w+", lambda word: f"[{word[0]}](#{word[0].lower()})" if word[0] in known else word[0], kind)


def _errors() -> str:
    parts = [
        "# Errors",
        "A refusal is a problem document ([RFC 9457](https://www.rfc-editor.org/rfc/rfc9457)) of the type "
        "`application/problem+json`. Programs compare `code`; people read `detail`. `type` is "
        "`urn:ticketbox:problem:` and the code. The title of a `not_found` names what wasn't found: "
        "`ticket not found`.",
        _table(
            ("status", "code", "title", "when"),
            [(str(each.status), _code(each.code), each.title, _first_paragraph(each)) for each in (*PROBLEMS, Problem)],
        ),
        "A 500 says nothing about the inside; its `request_id` is in the server's log, beside the cause.",
    ]
    return "\n\n".join(parts) + "\n"


def _first_paragraph(problem: type[Problem]) -> str:
    if problem is Problem:
        return "Something went wrong in the server."
    return " ".join((problem.__doc__ or "").split("\n\n")[0].split())


def _tools() -> str:
    cards = tools.cards(registry()).values()
    parts = [
        "# MCP tools",
        "What `tools/list` shows at `/mcp`, for a token with all scopes. "
        "[Agents](../use/agents.md) says how to connect.",
        _table(
            ("tool", "what", "needs", "operation"),
            [
                (f"[{each.name}](#{each.name})", each.title, needs(each.operation),
                 f"[{each.operation.name}](api.md#{each.operation.name})") for each in cards
            ],
        ),
    ]  # fmt: skip
    for each in cards:
        parts += [f"## {each.name}", each.description, _hints(each)]
        ((_, _, fields),) = reference.records({"components": {"schemas": {each.name: each.input_schema}}})
        rows = [(_code(f.name) + (" required" if f.required else ""), f.kind, f.description) for f in fields]
        parts.append(_table(("argument", "type", "what"), rows) if rows else "It takes no arguments.")
    parts += [
        "## Prompts",
        _table(
            ("prompt", "argument", "what"),
            [(_code(each.name), _code(each.argument), each.description) for each in prompts.PROMPTS],
        ),
        "## Resources",
        _table(
            ("resource", "type", "what"),
            [(_code(each.template), each.media_type, each.description) for each in prompts.RESOURCES],
        ),
    ]
    return "\n\n".join(parts) + "\n"


def _hints(card: tools.ToolCard) -> str:
    if card.read_only:
        return "It changes nothing."
    takes_away = " It takes something away." if card.destructive else ""
    again = " Calling it again with the same arguments changes nothing more." if card.idempotent else ""
    return f"It writes.{takes_away}{again}"


def _commands() -> str:
    parts = [
        "# Command line",
        "What `ticketbox --help` and its commands print. Every flag can also be given in the environment, as "
        "[Configuration](../operate/configuration.md#flags-and-environment) says.",
    ]
    for path, command in _walk(ticketbox, ("ticketbox",)):
        context = click.Context(command, info_name=" ".join(path), max_content_width=WIDTH, terminal_width=WIDTH)
        variables = sorted({
            str(option.envvar) for option in command.params if isinstance(option, click.Option) and option.envvar
        })  # fmt: skip
        parts += [
            f"## {' '.join(path)}",
            f"```text\n{command.get_help(context).rstrip()}\n```",
            f"Environment: {', '.join(map(_code, variables))}." if variables else "",
        ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _walk(command: click.Command, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command, info_name=path[-1])
        for name in command.list_commands(context):
            part = command.get_command(context, name)
            assert part is not None
            yield from _walk(part, (*path, name))


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _code(text: str) -> str:
    return f"`{text}`"


if __name__ == "__main__":
    sys.exit(main())
