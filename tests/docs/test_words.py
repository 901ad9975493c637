"""The words and names that `.ci/check-words` finds. `.ci/run` calls it for the repository itself."""

import runpy
import subprocess

import pytest

from tests.docs.pages import ROOT

SCRIPT = ROOT / ".ci" / "check-words"


find_mistakes = runpy.run_path(str(SCRIPT))["find_mistakes"]


@pytest.mark.parametrize(
    ("path", "text", "found"),
    [
        ("page.md", "The server shall stop.", "shall"),
        ("page.md", "The version stands\nin this file.", "stands in"),
        ("page.md", "Whoever has the link can use it.", "whoever"),
        ("page.md", "Press the button to make a ticket.", "make a ticket"),
        ("page.ts", "/* The row stands\n * under the other. */\n", "stands * under"),
        ("page.py", "# The rule stands\n# in another file.\nx = 1\n", "stands # in"),
        ("page.py", 'y = f"{y} is told"\n', "is told"),
        ("page.py", "def test_the_caller_is_told_why() -> None: ...\n", "is told"),
        ("page.py", "def made() -> int: ...\n", "made"),
        ("page.py", "class Page:\n    async def _changed_rows(self) -> int: ...\n", "_changed_rows"),
        ("page.py", "class Told(NamedTuple): ...\n", "Told"),
        ("page.ts", "export async function openedBy(id: string): Promise<void> {\n", "openedBy"),
        ("page.ts", "const kept = (row: Row): boolean => row.kept;\n", "kept"),
        ("page.ts", "class Page {\n  shown(): string {\n", "shown"),
        ("Page.svelte", "<script lang='ts'>\n  function listed() {\n", "listed"),
        ("page.ts", "interface Kept {\n", "Kept"),
    ],
)
def test_bad_words_and_names_are_found(path: str, text: str, found: str) -> None:
    assert [word for _, word, _ in find_mistakes(path, text)] == [found]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("page.md", "A marshall commends the untoldable roadmap."),
        ("page.py", "def embed() -> int: ...\ndef feed_parser() -> int: ...\ndef read() -> int: ...\n"),
        ("page.py", "class Page:\n    @property\n    def locked(self) -> bool: ...\n"),
        ("page.py", "@pytest.fixture(scope='session')\ndef shared_box() -> Box: ...\n"),
        ("page.py", "class CreatedToken: ...\nclass Embed: ...\n"),
        ("page.ts", "  if (made) {\n  const closed = $derived(open === 0);\n"),
    ],
)
def test_plain_words_verbs_nouns_and_properties_are_accepted(path: str, text: str) -> None:
    assert list(find_mistakes(path, text)) == []


def test_the_script_checks_the_paths_it_is_called_with() -> None:
    done = subprocess.run([SCRIPT, ".ci/check-words"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
