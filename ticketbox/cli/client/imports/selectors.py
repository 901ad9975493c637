"""Targets of actions from the selectors of Playwright and of Chrome's recorder."""

import re
from collections.abc import Sequence

import msgspec

from ticketbox.domain.captures.actions import MAX_SELECTORS, ActionTarget
from ticketbox.domain.captures.fields import LINE

_STRING = r'"((?:[^"\\]|\\.)*)"[is]?'
_ROLE = re.compile(rf"internal:role=([a-z]+)(?:\[name={_STRING}\])?")
_LABEL = re.compile(rf"internal:label={_STRING}")
_TEXT = re.compile(rf"internal:text={_STRING}")
_PLACEHOLDER = re.compile(rf"internal:attr=\[(?:placeholder|title|alt)={_STRING}\]")
_TEST_ID = re.compile(rf"internal:testid=\[[\w-]+={_STRING}\]")
_DESCRIBED = re.compile(rf"(.*) >> internal:describe={_STRING}", re.DOTALL)  # of Locator.describe
_ARIA = re.compile(r'(.*?)(?:\[role="([a-z]+)"\])?', re.DOTALL)


def describe_located(selector: str) -> ActionTarget:
    """Describe the element that a selector of Playwright finds; what its last part says is its name."""
    described = _DESCRIBED.fullmatch(selector) if len(selector) <= LINE else None
    located = described[1] if described else selector
    is_lasting = len(located) <= LINE and not located.startswith("aria-ref=")  # numbers of one snapshot
    target = ActionTarget(selectors=[located] if is_lasting else [])
    last = located[:LINE].rpartition(" >> ")[2]
    if match := _ROLE.match(last):
        target.role, target.name = match[1], _unquote(match[2])
    elif match := _LABEL.match(last) or _PLACEHOLDER.match(last):
        target.name = _unquote(match[1])
    elif match := _TEST_ID.match(last):
        target.test_id = _unquote(match[1])
    elif match := _TEXT.match(last):
        target.text = _unquote(match[1])
    if described and not (target.name or target.text or target.test_id):
        target.name = _unquote(described[2])
    return target


def describe_recorded(selectors: Sequence[str]) -> ActionTarget:
    """Describe the element that any of the recorder's selectors finds, best first."""
    target = ActionTarget()
    for selector in selectors[:MAX_SELECTORS]:
        kind, _, rest = selector.partition("/")
        located = selector
        if kind == "aria" and (match := _ARIA.fullmatch(rest)):
            target.name, target.role = match[1][:LINE] or None, match[2] or target.role
            if not match[2]:
                continue  # a name without a role finds nothing in Playwright
            located = f"role={match[2]}[name={msgspec.json.encode(match[1]).decode()}]"
        elif kind == "text":
            target.text = rest[:LINE]
            located = f"text={rest}"
        elif kind == "xpath":
            located = f"xpath={rest}"
        elif kind == "pierce":
            located = rest
        if located not in target.selectors and len(located) <= LINE:
            target.selectors.append(located)
    return target


def _unquote(text: str | None) -> str | None:
    return None if text is None else re.sub(r"\\(.)", r"\1", text)[:LINE]
