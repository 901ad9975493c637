"""Targets of actions from the selectors of Playwright."""

import re

from ticketbox.domain.captures.actions import ActionTarget
from ticketbox.domain.captures.fields import LINE

_STRING = r'"((?:[^"\\]|\\.)*)"[is]?'
_ROLE = re.compile(rf"internal:role=([a-z]+)(?:\[name={_STRING}\])?")
_LABEL = re.compile(rf"internal:label={_STRING}")
_TEXT = re.compile(rf"internal:text={_STRING}")
_PLACEHOLDER = re.compile(rf"internal:attr=\[(?:placeholder|title|alt)={_STRING}\]")
_TEST_ID = re.compile(rf"internal:testid=\[[\w-]+={_STRING}\]")
_DESCRIBED = re.compile(rf"(.*) >> internal:describe={_STRING}", re.DOTALL)  # of Locator.describe


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


def _unquote(text: str | None) -> str | None:
    return None if text is None else re.sub(r"\\(.)", r"\1", text)[:LINE]
