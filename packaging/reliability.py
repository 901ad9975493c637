"""Write what the long tests measured into docs/develop/promises.md.

    TICKETBOX_TIMES=10 uv run --group dev pytest -m long --junit-xml=report.xml
    uv run --group dev python packaging/reliability.py report.xml

A row of the page names its test last; what that test recorded takes the place of the row's figures. A test that
failed leaves its row as it was, and is named.
"""

import re
import sys
from pathlib import Path
from xml.etree import ElementTree

PAGE = Path(__file__).parent.parent / "docs" / "develop" / "promises.md"
ROW = re.compile(r"^\| (?P<promise>[^|]*) \| (?P<figures>[^|]*) \| `(?P<test>[^|`]*)` \|$", re.MULTILINE)


def main() -> int:
    """Read the reports that are named; the exit status says whether all their tests passed."""
    found: dict[str, str] = {}
    failed: list[str] = []
    for report in sys.argv[1:]:
        for case in ElementTree.parse(report).iter("testcase"):
            name = _named(case)
            if case.find("failure") is not None or case.find("error") is not None:
                failed.append(name)
            elif told := _told(case):
                found[name] = told
    text = PAGE.read_text("utf-8")
    PAGE.write_text(ROW.sub(lambda row: _filled(row, found), text), "utf-8")
    for name in failed:
        print(f"{name} failed; its row stays as it was", file=sys.stderr)
    return int(bool(failed))


def _named(case: ElementTree.Element) -> str:
    """`fault/test_crash.py::test_name[part]`."""
    path = case.get("classname", "").removeprefix("tests.").replace(".", "/")
    return f"{path}.py::{case.get('name')}"


def _told(case: ElementTree.Element) -> str:
    told = [(each.get("name", ""), each.get("value", "")) for each in case.iter("property")]
    return ", ".join(f"{name} {_grouped(value)}" for name, value in told)


def _grouped(value: str) -> str:
    return re.sub(r"\d{4,}", lambda digits: f"{int(digits[0]):,}", value)


def _filled(row: re.Match[str], found: dict[str, str]) -> str:
    figures = found.get(row["test"], row["figures"])
    return f"| {row['promise']} | {figures} | `{row['test']}` |"


if __name__ == "__main__":
    sys.exit(main())
