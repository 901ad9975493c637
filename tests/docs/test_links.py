"""Every link leads somewhere, and every page that the code names is there with its heading."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.docs.pages import PAGES, ROOT, anchors, headings, links, named

REFERENCE = re.compile(r"\b((?:docs|bench)/[\w/.\-]+\.md)(?:,\s+\"([^\"]+)\")?")
CODE = [
    path
    for folder in ("ticketbox", "packaging", "bench", "tests", "web/src")
    for path in sorted((ROOT / folder).rglob("*"))
    if path.suffix in {".py", ".ts", ".svelte"} and path != Path(__file__)
]


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_links_lead_somewhere(page: Path) -> None:
    broken = []
    for target in links(page):
        if target.startswith(("https://", "http://", "mailto:")):
            continue
        path, _, anchor = unquote(target).partition("#")
        there = (page.parent / path).resolve() if path else page
        if not there.exists() or (anchor and anchor not in anchors(there)):
            broken.append(target)
    assert not broken


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_headings_are_unique_where_links_need_them(page: Path) -> None:
    known = anchors(page)
    asked = {target.partition("#")[2] for other in PAGES for target in links(other) if "#" in target}
    assert not [anchor for anchor in set(known) & asked if known.count(anchor) > 1]


def references() -> Iterator[tuple[str, str, str]]:
    for path in CODE:
        text = re.sub(r"\s*\n\s*(?:# ?|\* ?)?", " ", path.read_text("utf-8"))
        for page, heading in REFERENCE.findall(text):
            yield named(path), page, heading


def test_the_pages_that_the_code_names_are_there() -> None:
    found = list(references())
    assert len(found) > 20
    missing = [
        (where, page, heading)
        for where, page, heading in found
        if not (ROOT / page).exists() or (heading and heading not in headings(ROOT / page))
    ]
    assert not missing


def test_every_page_can_be_reached_from_the_readme() -> None:
    reached, waiting = set[Path](), [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        reached.add(page)
        for target in links(page):
            there = (page.parent / target.partition("#")[0]).resolve()
            if there.is_dir():
                waiting += set(there.glob("*.md")) - reached
            elif there.suffix == ".md" and there.exists() and there not in reached:
                waiting.append(there)
    assert reached >= {page.resolve() for page in PAGES}


def test_no_page_tells_where_it_was_written() -> None:
    for page in PAGES:
        assert not re.search(r"(^|[\s\"'(`])/(?:work|root|home)/", page.read_text("utf-8"), re.MULTILINE), page
