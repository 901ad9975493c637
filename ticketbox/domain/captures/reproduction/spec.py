"""The test of a reproduction: the recorded steps as Playwright Test."""

import re
from collections.abc import Sequence

from msgspec.structs import replace

from ticketbox.domain.captures.actions import ActionKind
from ticketbox.domain.captures.environment import Environment, Size
from ticketbox.domain.captures.reproduction.checks import Check
from ticketbox.domain.captures.reproduction.circumstances import write_circumstances
from ticketbox.domain.captures.reproduction.layout import MAX_LINE, write_check, write_step
from ticketbox.domain.captures.reproduction.locators import quote
from ticketbox.domain.captures.reproduction.plan import MINOR, Line, read_path

_LONGEST_NAME = MAX_LINE - len("test(, async ({ page }, testInfo) => {")
_VERBS = ("open", "arrive", "answer", "step", "attach", "choose", "drag", "scroll", "expect", "finish")


def write_spec(
    title: str,
    lines: Sequence[Line],
    page_url: str,
    environment: Environment,
    *,
    checks: Sequence[Check] = (),
    closing: Sequence[str],
) -> str:
    """Write the test. `closing` are comments before its end."""
    codes = [line.code for line in lines if line.code is not None]
    starts = bool(codes) and codes[0].startswith("open(")
    shown = [line for line in lines if line.code is not None or line.step.kind not in MINOR]
    body: list[str] = []
    if not starts:
        body += ["", "  // The recording begins on this page", _write_call(0, f"open({quote(read_path(page_url))})")]
    for group in _group_lines(shown):
        body.append("")
        body += [f"  // {_comment(f'{each.step.number}. {each.step.words}{each.note}')}" for each in group]
        body += [f"  {each.prepares};" for each in group if each.prepares]
        done = [each for each in group if each.code is not None]
        body += [_write_call(each.step.number, each.code or "", each.element, each.times) for each in done]
    for check in checks:
        note = "" if check.code else " (the record doesn't say what to check; add it here)"
        body += ["", f"  // {_comment(check.state.words + note)}"]
        body += [write_check(*check.code)] if check.code else []
    prepared = [line.prepares for line in shown if line.prepares]
    expects = "expect(" if any(check.code for check in checks) else ""
    calls = ["step(", "finish(", *codes, *prepared, expects, "" if starts else "open("]
    verbs = [verb for verb in _VERBS if any(call.startswith(f"{verb}(") for call in calls)]
    size = next((line.step.point for line in lines if line.code and line.step.kind is ActionKind.RESIZE), None)
    if isinstance(size, list):
        environment = replace(environment, viewport=Size(*size))
    return "\n".join(
        [
            "import { test } from '@playwright/test';",
            "import { replayCapture } from './reproduction.js';",
            "",
            *write_circumstances(environment),
            f"test({quote(shorten_title(title))}, async ({{ page }}, testInfo) => {{",
            f"  const {{ {', '.join(verbs)} }} = await replayCapture(page, testInfo);",
            *body,
            "",
            *(f"  // {_comment(each)}" for each in closing),
            "  await finish();",
            "});",
            "",
        ]
    )


def _group_lines(lines: Sequence[Line]) -> list[list[Line]]:
    """Group the lines of a step, of the answer to the dialog that it opens, and of the page that it leads to."""
    groups: list[list[Line]] = []
    for line in lines:
        is_led = line.code is not None and line.code.startswith("arrive(")
        if groups and (line.prepares or (is_led and any(each.code for each in groups[-1]))):
            groups[-1].append(line)
        else:
            groups.append([line])
    return groups


def shorten_title(title: str) -> str:
    """Cut a title to the name of a test that fits into a line, after a word; README.md has all of it."""
    if len(quote(title)) <= _LONGEST_NAME:
        return title
    words, cut = title.split(), ""
    while words and len(quote(f"{cut} {words[0]}…")) <= _LONGEST_NAME:
        cut = f"{cut} {words.pop(0)}".strip()
    return f"{cut or title[: _LONGEST_NAME // 2]}…"


def _write_call(number: int, code: str, element: str | None = None, times: int = 1) -> str:
    parameters = ", ".join(filter(None, ["it" if element else "", "part" if "[part]" in code else ""]))
    body = code.replace(element, "it", 1) if element else code
    if times == 1:
        return write_step(number, element, f"({parameters}) => {body}")
    loop = f"for (let count = 0; count < {times}; count += 1) await {body};"
    return write_step(number, element, f"async ({parameters}) => {{\n{loop}")


def _comment(text: str) -> str:
    """Return a text as the content of a comment: one line."""
    return " ".join(re.sub(r"[\x00-\x1f\x7f\u0085\u2028\u2029]", " ", text).split())
