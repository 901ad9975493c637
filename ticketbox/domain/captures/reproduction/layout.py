"""The layout of TypeScript: lines of at most 110 characters, broken where Prettier breaks them."""

import re
import unicodedata
from collections.abc import Sequence

MAX_LINE = 110

_TEXT = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_CALL = re.compile(rf"""(?:\.\w+)?\((?:[^'"()]|{_TEXT})*\)""")
_ARGUMENT = re.compile(rf"""{_TEXT}|\{{(?:[^{{}}'"]|{_TEXT})*\}}""")
_FIELD = re.compile(rf"""\w+: (?:{_TEXT}|[^'",}}\s]+)""")


def write_step(number: int, element: str | None, act: str) -> str:
    """Write the call that does a step: a function's text, with its element if it has one."""
    start = f"  await step({number}, {element}, " if element else f"  await step({number}, "
    opening, _, body = act.partition(" => ")
    is_block = body.startswith("{\n")
    if not is_block and _measure(f"{start}{act});") <= MAX_LINE:
        return f"{start}{act});"
    fits = _measure(f"{start}{opening} =>{' {' if is_block else ''}") <= MAX_LINE
    if fits and is_block:
        return f"{start}{opening} => {{\n    {_break_loop(body[2:], 4)}\n  }});"
    if element is None or (fits and _measure(f"    {body},") <= MAX_LINE):
        return f"{start}{opening} =>\n    {_break_chain(body, 4)},\n  );"
    if is_block:
        act = f"{opening} => {{\n      {_break_loop(body[2:], 6)}\n    }}"
    return f"  await step(\n    {number},\n    {_break_chain(element, 4)},\n    {act},\n  );"


def write_check(subject: str, matcher: str, arguments: Sequence[str]) -> str:
    """Write what is expected of a subject: a matcher of Playwright with its arguments."""
    start = f"  await expect({subject}).{matcher}("
    line = f"{start}{', '.join(arguments)});"
    if _measure(line) <= MAX_LINE:
        return line
    if arguments and _measure(start) <= MAX_LINE:
        return start + "".join(f"\n    {each}," for each in arguments) + "\n  );"
    return f"  await expect(\n    {_break_chain(subject, 4)},\n  ).{matcher}({', '.join(arguments)});"


def _measure(line: str) -> int:
    """Return how many columns a line takes: characters of East Asian scripts and emoji take two."""
    return len(line) if line.isascii() else sum(1 + (unicodedata.east_asian_width(each) in "WF") for each in line)


def _break_loop(body: str, indent: int) -> str:
    """Break a loop with one statement before the statement."""
    if indent + _measure(body) <= MAX_LINE:
        return body
    head, _, statement = body.partition(") await ")
    return f"{head})\n{' ' * (indent + 2)}await {statement}"


def _break_chain(text: str, indent: int) -> str:
    """Break a chain of calls, which a comma follows."""
    if indent + _measure(text) < MAX_LINE:
        return text
    root = re.match(r"\w+", text)
    assert root is not None
    calls = _CALL.findall(text, root.end())
    if root[0] + "".join(calls) != text:
        return text
    start = root[0] + "".join(calls[:-1])
    if len(calls) == 1 or (len(calls) == 2 and _can_break_object(start + calls[1], indent)):
        return _break_arguments(start, calls[-1], indent)
    inner = indent + 2
    lines = [each if inner + _measure(each) < MAX_LINE else _break_arguments("", each, inner) for each in calls]
    return root[0] + "".join(f"\n{' ' * inner}{each}" for each in lines)


def _can_break_object(text: str, indent: int) -> bool:
    """Whether a line has room for everything before the fields of the object that is the last argument."""
    head, brace, _ = text.rpartition("{ ")
    return bool(brace) and text.endswith("})") and indent + _measure(f"{head}{{") <= MAX_LINE


def _break_arguments(start: str, call: str, indent: int) -> str:
    """Break a call: in the object that is its last argument, or at each argument."""
    name, _, rest = call.partition("(")
    *others, last = _ARGUMENT.findall(rest)
    space = " " * indent
    if _can_break_object(start + call, indent):
        fields = "".join(f"{space}  {each},\n" for each in _FIELD.findall(last))
        return f"{start}{name}({', '.join([*others, '{'])}\n{fields}{space}}})"
    return f"{start}{name}(\n" + "".join(f"{space}  {each},\n" for each in [*others, last]) + f"{space})"
