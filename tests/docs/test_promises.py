"""Every test that the page of promises names exists, and every long test that records figures has a row."""

import re
import subprocess
import sys
from pathlib import Path

from tests.docs.pages import ROOT, headings, prose, table, words

TESTS = ROOT / "tests"
PAGE = ROOT / "docs" / "develop" / "promises.md"
MEASURED = "Measurements of the long tests"
NAME = re.compile(r"`(?:(?P<file>[\w/]+\.py)::)?(?P<test>test_\w+)(?:\[\w+\])?`")
DEFINED = {
    path.relative_to(TESTS).as_posix(): set(re.findall(r"^\s*(?:async )?def (test_\w+)", path.read_text("utf-8"), re.M))
    for path in TESTS.rglob("test_*.py")
}


def test_every_named_test_exists() -> None:
    names = list(NAME.finditer(prose(PAGE)))
    assert len(names) > 150
    assert prose(PAGE).count("test_") == sum(match[0].count("test_") for match in names)
    everything = set().union(*DEFINED.values())
    missing = [m[0] for m in names if m["test"] not in (DEFINED.get(m["file"], ()) if m["file"] else everything)]
    assert not missing


def test_every_promise_names_its_tests() -> None:
    promises = [heading for heading in headings(PAGE)[1:] if heading != MEASURED]
    assert len(promises) > 5
    for heading in promises:
        for promise, tests in table(PAGE, heading):
            assert words([tests]), promise


def test_every_long_test_that_records_figures_has_a_row() -> None:
    rows = {test.strip("`").partition("[")[0] for *_, test in table(PAGE, MEASURED)}
    recording = {
        f"{path}::{test}"
        for path in DEFINED
        for test in re.findall(
            r"mark\.long\n(?:@.*\n)*def (test_\w+)\([^)]*record_property", (TESTS / path).read_text()
        )
    }
    assert recording == rows


REPORT = """<testsuites><testsuite>
<testcase classname="tests.fault.test_crash" name="test_many_kills_lose_nothing">
<properties><property name="rounds" value="1234"/></properties></testcase>
<testcase classname="tests.fault.test_crash" name="test_other"><failure/></testcase>
</testsuite></testsuites>"""


def test_report_fills_rows_and_names_failed_tests(tmp_path: Path) -> None:
    script = (ROOT / "packaging" / "reliability.py").read_text("utf-8")
    for folder in ("packaging", "docs/develop"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "packaging" / "reliability.py").write_text(script, "utf-8")
    page = tmp_path / "docs" / "develop" / "promises.md"
    page.write_text(PAGE.read_text("utf-8"), "utf-8")
    (tmp_path / "report.xml").write_text(REPORT, "utf-8")
    done = subprocess.run(
        [sys.executable, tmp_path / "packaging" / "reliability.py", tmp_path / "report.xml"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, "test_other failed" in done.stderr) == (1, True)
    changed = set(page.read_text("utf-8").splitlines()) - set(PAGE.read_text("utf-8").splitlines())
    assert [line.split(" | ")[1] for line in changed] == ["rounds 1,234"]
