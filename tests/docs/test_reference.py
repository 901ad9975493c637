"""docs/reference matches the code and is complete."""

import json
import subprocess
import sys

import click

from tests.docs.pages import ROOT, headings, table, tables, words
from ticketbox.cli import main
from ticketbox.domain.core.access.scopes import Scope
from ticketbox.domain.core.problems import PROBLEMS
from ticketbox.domain.tickets.search_filters import FILTERS, ValueKind
from ticketbox.operations.catalogue import load_registry

DOCS = ROOT / "docs" / "reference"


def test_reference_is_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "packaging" / "reference.py", "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_openapi_names_the_scope_that_each_operation_requires() -> None:
    paths = json.loads((DOCS / "openapi.json").read_text("utf-8"))["paths"]
    for route, operation in load_registry().list_routes():
        if isinstance(operation.scope, Scope):
            described = paths[route.path][route.method.lower()]["description"]
            assert f"Requires the scope `{operation.scope}`." in described, operation.name


def test_reference_lists_every_error_code() -> None:
    rows = table(DOCS / "errors.md", "Errors")
    listed = {(row[0], row[1].strip("`")) for row in rows}
    assert listed == {(str(each.status), each.code) for each in PROBLEMS} | {("500", "internal")}


def test_reference_lists_every_command() -> None:
    assert isinstance(main, click.Group)
    listed = headings(DOCS / "cli.md")
    for name in main.list_commands(click.Context(main)):
        assert f"ticketbox {name}" in listed


def test_reference_lists_every_tool() -> None:
    listed = {row[0]: row[4] for row in tables(DOCS / "tools.md", "MCP tools")[0]}
    assert listed == {
        f"[{tool.name or each.name}](#{tool.name or each.name})": f"`{each.name}`"
        for each in load_registry()
        if (tool := each.tool) is not None
    }


def test_search_page_lists_every_filter() -> None:
    page = ROOT / "docs" / "use" / "search.md"
    listed = {key: set(words(row[1:2])) for row in tables(page, "Filters")[0] for key in words(row[:1])}
    for each in FILTERS:
        if each.takes is ValueKind.WORDS:
            assert any(term.startswith(f"{each.key}:") for row in table(page, "Words") for term in words(row[:1]))
        elif each.takes is not ValueKind.TIME:
            assert set(each.values) <= listed[f"{each.key}:"]
