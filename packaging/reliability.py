"""Write the figures of the long tests into docs/develop/promises.md.

    TICKETBOX_TIMES=10 uv run --group dev pytest -m long --junit-xml=report.xml
    uv run --group dev python packaging/reliability.py report.xml

The last cell of a row names a test; what that test recorded replaces the row's figures. The row of a failed test
isn't changed, and the test is reported.
"""

import re
import sys
from pathlib import Path
from xml.etree import ElementTree

PAGE = Path(__file__).parent.parent / "docs" / "develop" / "promises.md"
ROW = re.compile(r"^\| (?P<promise>[^|]*) \| (?P<figures>[^|]*) \| `(?P<test>[^|`]*)` \|$", re.MULTILINE)


def main() -> int:
    """Read the reports given as arguments; the exit status is 1 if one of their tests failed."""
    recorded: dict[str, str] = {}
    failed: list[str] = []
    for report in sys.argv[1:]:
        for case in ElementTree.parse(report).iter("testcase"):
            name = _format_test_name(case)
            if case.find("failure") is not None or case.find("error") is not None:
                failed.append(name)
            elif figures := _read_figures(case):
                recorded[name] = figures
    text = PAGE.read_text("utf-8")
    PAGE.write_text(ROW.sub(lambda row: _fill(row, recorded), text), "utf-8")
    for name in failed:
        print(f"{name} failed; its row isn't changed", file=sys.stderr)
    return int(bool(failed))


def _format_test_name(case: ElementTree.Element) -> str:
    """Return a test's name as the page writes it: `fault/test_crash.py::test_name[part]`."""
    path = case.get("classname", "").removeprefix("tests.").replace(".", "/")
    return f"{path}.py::{case.get('name')}"


def _read_figures(case: ElementTree.Element) -> str:
    figures = [(each.get("name", ""), each.get("value", "")) for each in case.iter("property")]
    return ", ".join(f"{name} {_group_digits(value)}" for name, value in figures)


def _group_digits(value: str) -> str:
    return re.sub(r"\d{4,}", lambda digits: f"{int(digits[0]):,}", value)


def _fill(row: re.Match[str], recorded: dict[str, str]) -> str:
    figures = recorded.get(row["test"], row["figures"])
    return f"| {row['promise']} | {figures} | `{row['test']}` |"


if __name__ == "__main__":
    sys.exit(main())
