"""Regular expressions take time in proportion to a text, however long its words are: texts come from strangers."""

import ast
import importlib
import pkgutil
import re
import time
from pathlib import Path
from typing import Any

import pytest

import ticketbox
from ticketbox.domain.captures.redaction.rules import RULES, compile_rule

ROOT = Path(ticketbox.__file__).parent
SCANS = {"search", "sub", "subn", "split", "findall", "finditer"}
UNITS = [
    *"aAH0-._/\\'\"<(:= \n&%[é;,|`*@+",
    "a-",
    "0-",
    "a.",
    "0.",
    "a:",
    "a ",
    "(a",
    "/a",
    " \n",
    "a=",
    "aA0",
    '\\"',
    "://",
]
LENGTHS = (3_125, 12_500, 50_000, 200_000)
SLOW = 1.0  # seconds that no text of the last length may take because of quadratic growth
# what these read is short or of a known form before they see it
BOUNDED = {
    "ticketbox.domain.captures.reproduction.layout": "lines that ticketbox wrote",
    "ticketbox.domain.captures.source_maps.encoded_texts": "an array that is valid JSON",
    "ticketbox.operations.core.faults": "the path of a field in an input",
}


def list_expressions() -> dict[str, re.Pattern[Any]]:
    """Every expression that the package looks for in texts, by its pattern; matches of whole texts are left out."""
    found: dict[str, re.Pattern[Any]] = {}
    for module in pkgutil.walk_packages([str(ROOT)], "ticketbox."):
        if module.name in BOUNDED:
            continue
        path = ROOT.parent.joinpath(*module.name.split("."))
        path = path / "__init__.py" if module.ispkg else path.with_suffix(".py")
        for node in ast.walk(ast.parse(path.read_text())):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in SCANS):
                continue
            if not isinstance(owner := node.func.value, ast.Name):
                continue
            if owner.id == "re" and isinstance(node.args[0], ast.Constant):
                expression = re.compile(str(node.args[0].value))
            else:
                expression = vars(importlib.import_module(module.name)).get(owner.id)
            if isinstance(expression, re.Pattern):
                found[str(expression.pattern)] = expression
    patterns = [*RULES.pairs.spans, *RULES.pairs.prose, *RULES.formats]
    return found | {each.pattern: compile_rule(each.pattern) for each in patterns}


def measure(expression: re.Pattern[Any], unit: str, length: int) -> float:
    """Processor time of finding all matches in a text of a repeated unit."""
    text: Any = unit * (length // len(unit))
    if isinstance(expression.pattern, bytes):
        text = text.encode()
    started = time.process_time()
    for _ in expression.finditer(text):
        pass
    return time.process_time() - started


def grows_too_fast(expression: re.Pattern[Any], unit: str) -> bool:
    """Whether four times the text takes much more than four times the time."""
    before = 0.0
    for length in LENGTHS:
        spent = measure(expression, unit, length)
        # other programs can disturb a measurement
        if before and spent > 8 * before and all(measure(expression, unit, length) > 8 * before for _ in range(3)):
            return True
        if spent * (LENGTHS[-1] / length) ** 2 < SLOW:
            return False
        before = spent
    return False


@pytest.mark.long
def test_no_expression_takes_quadratic_time() -> None:
    expressions = list_expressions()
    assert len(expressions) > 150
    slow = {
        pattern: [unit for unit in UNITS if grows_too_fast(expression, unit)]
        for pattern, expression in expressions.items()
    }
    assert {pattern: units for pattern, units in slow.items() if units} == {}


def test_quadratic_expression_is_found() -> None:
    assert grows_too_fast(re.compile(r"[a-z][a-z0-9+.-]*://"), "a")
    assert not grows_too_fast(re.compile(r"[a-z][a-z0-9+.-]{0,30}://"), "a")
