"""Links resolve, and every page and heading that the code refers to exists."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.docs.pages import PAGES, ROOT, anchors, headings, links, page_path

REFERENCE = re.compile(r"\b((?:docs|bench)/[\w/.\-]+\.md)(?:,\s+\"([^\"]+)\")?")
FILE = re.compile(r"`([\w.\-]+(?:/[\w.\-]+)+\.(?:py|ts|svelte|spec|service|toml))(?:::\w+)?(?:\[\w+\])?`")
FOLDERS = [ROOT, ROOT / "ticketbox", ROOT / "tests", ROOT / "web" / "src" / "app"]
CODE = [
    path
    for folder in ("ticketbox", "packaging", "bench", "tests", "web/src")
    for path in sorted((ROOT / folder).rglob("*"))
    if path.suffix in {".py", ".ts", ".svelte"} and path.parent != Path(__file__).parent
]


@pytest.mark.parametrize("page", PAGES, ids=page_path)
def test_links_resolve(page: Path) -> None:
    broken = []
    for target in links(page):
        if target.startswith(("https://", "http://", "mailto:")):
            continue
        path, _, anchor = unquote(target).partition("#")
        file = (page.parent / path).resolve() if path else page
        if not file.exists() or (anchor and anchor not in anchors(file)):
            broken.append(target)
    assert not broken


@pytest.mark.parametrize("page", PAGES, ids=page_path)
def test_linked_headings_are_unique(page: Path) -> None:
    existing = anchors(page)
    linked = {target.partition("#")[2] for other in PAGES for target in links(other) if "#" in target}
    assert not [anchor for anchor in set(existing) & linked if existing.count(anchor) > 1]


def references() -> Iterator[tuple[str, str, str]]:
    for path in CODE:
        text = re.sub(r"\s*\n\s*(?:# ?|\* ?)?", " ", path.read_text("utf-8"))
        for page, heading in REFERENCE.findall(text):
            yield page_path(path), page, heading


def test_pages_that_the_code_refers_to_exist() -> None:
    links = list(references())
    assert len(links) > 20
    missing = [
        (where, page, heading)
        for where, page, heading in links
        if not (ROOT / page).exists() or (heading and heading not in headings(ROOT / page))
    ]
    assert not missing


@pytest.mark.parametrize("page", PAGES, ids=page_path)
def test_files_that_pages_name_exist(page: Path) -> None:
    names = set(FILE.findall(page.read_text("utf-8")))
    assert not {name for name in names if not any((folder / name).exists() for folder in FOLDERS)}


def test_every_page_is_linked_from_the_readme() -> None:
    reached, waiting = set[Path](), [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page in reached:
            continue
        reached.add(page)
        for target in links(page):
            file = (page.parent / target.partition("#")[0]).resolve()
            if file.is_dir():
                waiting += set(file.glob("*.md")) - reached
            elif file.suffix == ".md" and file.exists() and file not in reached:
                waiting.append(file)
    assert reached >= {page.resolve() for page in PAGES}


def test_no_page_contains_a_local_path() -> None:
    for page in PAGES:
        assert not re.search(r"(^|[\s\"'(`])/(?:work|root|home)/", page.read_text("utf-8"), re.MULTILINE), page
