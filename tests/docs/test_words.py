"""The words and names that `.ci/check-words` finds. `.ci/run` calls it for the repository itself."""

import importlib.machinery
import importlib.util
import subprocess
import sys
from typing import Any

import pytest

from tests.docs.pages import ROOT

SCRIPT = ROOT / ".ci" / "check-words"
TOML = (ROOT / ".ci" / "words.toml").read_text("utf-8")


def load_script() -> Any:
    loader = importlib.machinery.SourceFileLoader("check_words", str(SCRIPT))
    spec = importlib.util.spec_from_loader("check_words", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    writes_bytecode, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = writes_bytecode
    return module


RULES = load_script().Rules


def list_findings(path: str, text: str) -> list[tuple[int, str]]:
    return [(each.line, each.found) for each in RULES(TOML).check(path, text)]


@pytest.mark.parametrize(
    ("path", "text", "line", "word"),
    [
        ("docs/page.md", "# Page\n\nThe server shall stop.\n", 3, "shall"),
        ("docs/page.md", "The version stands\nin this file.\n", 1, "stands in"),
        ("README.md", "Whoever has the link can use it.", 1, "Whoever"),
        ("docs/page.md", "Press the button to make a ticket.", 1, "make a ticket"),
        ("web/src/app/Page.svelte", "<p>Password, once more</p>", 1, "Password, once more"),
        ("web/src/app/page.ts", "  // The client is told\n", 1, "told"),
        ("web/src/app/page.ts", "/* The row stands\n * under the other. */\n", 1, "stands under"),
        ("ticketbox/cli/page.py", 'x = 1\ny = "Mend it."\n', 2, "Mend"),
        ("ticketbox/cli/page.py", 'y = f"{y} shall stop"\n', 1, "shall"),
        ("ticketbox/cli/page.py", "x = 1  # built anew\n", 1, "anew"),
        ("ticketbox/cli/page.py", "# The rule stands\n# in another file.\nx = 1\n", 1, "stands in"),
        ("ticketbox/cli/page.py", '"""Do it.\n\nThe caller is told\nabout it."""\n', 3, "told"),
        ("tests/test_page.py", "def test_the_caller_is_told_why() -> None: ...\n", 1, "told"),
        ("packaging/verify", '#!/usr/bin/env python3\n"""This shall work."""\n', 2, "shall"),
    ],
)
def test_bad_words_are_found(path: str, text: str, line: int, word: str) -> None:
    assert list_findings(path, text) == [(line, word)]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("ticketbox/cli/page.py", "told = shall(anew)\n"),
        ("ticketbox/cli/page.py", 'y = f"{told} lines, {{sic}}"\n'),
        ("ticketbox/cli/page.py", 'x = "it stands", {"in": 1}\n'),
        ("docs/page.md", "A marshall commends the untoldable roadmap."),
    ],
)
def test_code_and_longer_words_are_accepted(path: str, text: str) -> None:
    assert list_findings(path, text) == []


@pytest.mark.parametrize(
    ("path", "text", "line", "name"),
    [
        ("ticketbox/page.py", "def made() -> int: ...\n", 1, "made"),
        ("ticketbox/page.py", "class Page:\n    async def _changed_rows(self) -> int: ...\n", 2, "_changed_rows"),
        ("ticketbox/page.py", "class Told(NamedTuple): ...\n", 1, "Told"),
        ("tests/test_page.py", "def signed_in() -> None: ...\n", 1, "signed_in"),
        ("web/src/page.ts", "export async function openedBy(id: string): Promise<void> {\n", 1, "openedBy"),
        ("web/src/page.ts", "const kept = (row: Row): boolean => row.kept;\n", 1, "kept"),
        ("web/src/page.ts", "const closed = async () => {\n", 1, "closed"),
        ("web/src/page.ts", "class Page {\n  shown(): string {\n", 2, "shown"),
        ("web/src/Page.svelte", "<script lang='ts'>\n  function listed() {\n", 2, "listed"),
        ("web/src/page.ts", "interface Kept {\n", 1, "Kept"),
    ],
)
def test_names_that_are_participles_are_found(path: str, text: str, line: int, name: str) -> None:
    assert list_findings(path, text) == [(line, name)]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("ticketbox/page.py", "def embed() -> int: ...\ndef feed_parser() -> int: ...\ndef read() -> int: ...\n"),
        ("ticketbox/page.py", "class Page:\n    @property\n    def locked(self) -> bool: ...\n"),
        ("tests/conftest.py", "@pytest.fixture(scope='session')\ndef shared_box() -> Box: ...\n"),
        ("ticketbox/page.py", "class CreatedToken: ...\nclass Embed: ...\n"),
        ("web/src/page.ts", "class Page {\n  get changed(): boolean {\n"),
        ("web/src/page.ts", "  if (made) {\n  const closed = $derived(open === 0);\n"),
    ],
)
def test_verbs_nouns_and_properties_are_accepted(path: str, text: str) -> None:
    assert list_findings(path, text) == []


def test_an_exception_accepts_one_word_in_the_files_it_names() -> None:
    rules = RULES(TOML + '\n[[allow]]\npath = "docs/*.md"\nfound = "shall"\nreason = "A quotation."\n')
    exception = {"path": "docs/*.md", "found": "shall", "reason": "A quotation."}
    assert exception in rules.list_unused_exceptions()
    assert [each.found for each in rules.check("docs/page.md", "It Shall be told.")] == ["told"]
    assert exception not in rules.list_unused_exceptions()
    assert rules.check("README.md", "It shall.")


def test_every_exception_has_a_reason() -> None:
    for each in RULES(TOML).list_unused_exceptions():
        assert each.keys() == {"path", "found", "reason"}
        assert each["reason"]


def test_the_script_checks_the_paths_it_is_called_with() -> None:
    done = subprocess.run([SCRIPT, ".ci/check-words"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
