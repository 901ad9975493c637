"""What the test of a reproduction expects of the page after its last step, as Playwright Test."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from ticketbox.domain.captures.actions import ActionTarget
from ticketbox.domain.captures.expectations import COMPARED, PAGE_ASPECTS, Aspect, fold_spaces
from ticketbox.domain.captures.records import Expectation
from ticketbox.domain.captures.reproduction.locators import REDACTED, list_texts, quote, write_locator
from ticketbox.domain.captures.reproduction.plan import read_path

_MATCHERS = {
    Aspect.VISIBLE: "toBeVisible", Aspect.ABSENT: "toBeHidden", Aspect.ENABLED: "toBeEnabled",
    Aspect.DISABLED: "toBeDisabled", Aspect.CHECKED: "toBeChecked", Aspect.FITS: "toFit",
}  # fmt: skip
_OF_OTHER = {
    Aspect.INSIDE: "toBeInside", Aspect.APART: "toBeApartFrom", Aspect.SAME_AS: "toHaveTextOf",
    Aspect.VISIBLE: "toBeVisibleNear",
}  # fmt: skip
_COMPARING = {
    Aspect.TEXT: "toHaveText", Aspect.VALUE: "toHaveValue", Aspect.COUNT: "toHaveCount",
    Aspect.ATTRIBUTE: "toHaveAttribute", Aspect.URL: "toHaveURL", Aspect.TITLE: "toHaveTitle",
}  # fmt: skip


class ExpectedState(msgspec.Struct, frozen=True):
    """An expectation in expected.json. `seen` is null where anything but what is right is the bug."""

    id: str
    is_: Aspect = msgspec.field(name="is")
    name: str | None
    seen: str | None
    right: str | None
    words: str


class Assertion(NamedTuple):
    """What is expected of what, in TypeScript: the subject, Playwright's or the pack's matcher, and its arguments."""

    subject: str
    matcher: str
    arguments: list[str]


class Check(msgspec.Struct, frozen=True):
    """An expectation with its code; None if the record doesn't say what to check."""

    state: ExpectedState
    code: Assertion | None


def plan_checks(expectations: Sequence[Expectation]) -> list[Check]:
    """Decide what the test checks for each expectation; those that it can't check come last."""
    checks = [_plan_check(each) for each in expectations]
    return sorted(checks, key=lambda check: check.code is None)


def _plan_check(expectation: Expectation) -> Check:
    seen, right = expectation.seen, expectation.right
    if expectation.is_ is Aspect.URL:
        seen, right = (None if each is None else read_path(each) if "://" in each else each for each in (seen, right))
    is_lost = REDACTED in (right or "") or (right is None and REDACTED in (seen or ""))
    kept = None if seen is None or REDACTED in seen else seen
    state = ExpectedState(
        expectation.id, expectation.is_, expectation.name, kept, right, " ".join(expectation.words.split())
    )
    return Check(state, None if is_lost else _write_check(expectation, kept, right))


def _write_check(expectation: Expectation, seen: str | None, right: str | None) -> Assertion | None:
    aspect = expectation.is_
    subject = "page" if aspect in PAGE_ASPECTS else _locate(expectation, expectation.target)
    if subject is None:
        return None
    if aspect in _OF_OTHER and (aspect is not Aspect.VISIBLE or expectation.other is not None):
        other = _locate(expectation, expectation.other)
        if other is None and expectation.other is not None:
            return None
        return Assertion(subject, _OF_OTHER[aspect], [] if other is None else [other])
    if aspect in _COMPARING:
        given = (seen if right is None else right) or ""
        named = [quote(expectation.name or "")] if aspect is Aspect.ATTRIBUTE else []
        value = str(int(given or 0)) if aspect is Aspect.COUNT else quote(given)
        return Assertion(subject, f"{'not.' if right is None else ''}{_COMPARING[aspect]}", [*named, value])
    is_unchecked = aspect is Aspect.CHECKED and right == "false"
    return Assertion(subject, f"{'not.' if is_unchecked else ''}{_MATCHERS[aspect]}", [])


def _locate(expectation: Expectation, target: ActionTarget | None) -> str | None:
    """Write a locator; where the text is what is compared, one without the element's own text."""
    if target is None or expectation.is_ not in {*COMPARED, Aspect.SAME_AS}:
        return write_locator(target, expectation.frame, expectation.frame_path)
    own = [fold_spaces(each) for each in (target.text, expectation.seen, expectation.right) if each and each.strip()]

    def has_own_text(*texts: str | None) -> bool:
        """Whether a text is the element's, or begins as it does."""
        folded = [fold_spaces(each) for each in texts if each]
        return any(text in each or each.startswith(text) for text in own for each in folded)

    selectors = [each for each in target.selectors if not has_own_text(*list_texts(each))]
    kept = None if has_own_text(target.name) else target.name
    free = ActionTarget(target.role, kept, target.test_id, None, selectors)
    return write_locator(free, expectation.frame, expectation.frame_path)
