"""What a person says is wrong on a page, and what would be right: bugs that throw nothing (docs/use/reproduce.md).

The extension writes the same sentences; both are tested with tests/domain/captures/expectations.json.
"""

import re
from enum import StrEnum
from typing import Annotated, NamedTuple

from msgspec import Meta, Struct, field

from ticketbox.domain.captures.actions import MAX_FRAMES, ActionTarget
from ticketbox.domain.captures.fields import FrameAddress, Line, Time
from ticketbox.domain.captures.steps import MAX_NAME
from ticketbox.domain.core.patterns import match_whole

MAX_EXPECTATIONS = 20  # of a capture
SHOWN = 2_000  # characters


class Aspect(StrEnum):
    """What of an element, or of the page, is wrong."""

    TEXT = "text"
    VALUE = "value"
    VISIBLE = "visible"
    ABSENT = "absent"
    ENABLED = "enabled"
    DISABLED = "disabled"
    CHECKED = "checked"
    COUNT = "count"
    ATTRIBUTE = "attribute"
    FITS = "fits"
    INSIDE = "inside"
    APART = "apart"
    SAME_AS = "same_as"
    URL = "url"
    TITLE = "title"


PAGE_ASPECTS = {Aspect.URL, Aspect.TITLE}
# `right` says what would be right; without it, anything but `seen` is
COMPARED = {Aspect.TEXT, Aspect.VALUE, Aspect.COUNT, Aspect.ATTRIBUTE, *PAGE_ASPECTS}
# of two elements; those in the second set can be said without the other
RELATIONS = {Aspect.APART, Aspect.SAME_AS}
LOOSE_RELATIONS = {Aspect.INSIDE, Aspect.VISIBLE}

ShownText = Annotated[str, Meta(max_length=SHOWN), match_whole(r"[^\x00]*")]


class ShownTexts(Struct, gc=False, forbid_unknown_fields=True):
    """What people read in place of `seen` and `right`, where these have stand-ins."""

    seen: ShownText | None = None
    right: ShownText | None = None


class SentExpectation(Struct, gc=False, forbid_unknown_fields=True, kw_only=True):
    """What is wrong, as a client sends it.

    `text`, `value`, `count`, `attribute`, `url` and `title` have `right`; without it, anything but `seen` is right.
    The others have no `right`, except `checked` with `false`. `text` and `same_as` compare the text content with white
    space folded; `url` compares path, query and fragment. Where the project stores bodies as `shape`, a client replaces
    values in `seen` and `right` that come from recorded answers by the stand-ins in its upload, as the test will show
    them, and keeps what the person read in `shown`.
    """

    is_: Annotated[
        Aspect,
        Meta(
            description="`text`, `value`, `count`, `attribute`, `url`, `title`, or what it should be: `visible`, "
            "`absent`, `enabled`, `disabled`, `checked`, `fits` (not cut off), `inside`, `apart`, `same_as`."
        ),
    ] = field(name="is")
    target: Annotated[ActionTarget | None, Meta(description="The element; null for `url` and `title`.")] = None
    frame: FrameAddress = None
    frame_path: Annotated[
        list[Line], Meta(max_length=MAX_FRAMES, description="Locators of the frames around it, outermost first.")
    ] = field(default_factory=list[str])
    name: Annotated[
        Annotated[str, Meta(max_length=100), match_whole(r"[A-Za-z_][A-Za-z0-9_.:\-]*")] | None,
        Meta(description="The name of the `attribute`.", examples=["alt"]),
    ] = None
    seen: Annotated[ShownText | None, Meta(description="What the page showed.", examples=["40.00 €"])] = None
    right: Annotated[ShownText | None, Meta(description="What it should show.", examples=["80.00 €"])] = None
    other: Annotated[
        ActionTarget | None,
        Meta(description="The element for `apart`, `same_as`, `inside` (null: the window), or near what is missing."),
    ] = None
    shown: Annotated[ShownTexts | None, Meta(description="What people read, where `seen` has stand-ins.")] = None
    at: Annotated[Time | None, Meta(description="When it was seen. Default: when the capture was taken.")] = None


SentExpectations = Annotated[
    list[SentExpectation], Meta(max_length=MAX_EXPECTATIONS, description="What is wrong on the page, as people say it.")
]


class Fault(NamedTuple):
    """Why an expectation can't be stored: the field, and what it must be."""

    field: str
    detail: str


def find_fault(sent: SentExpectation) -> Fault | None:
    """Find what makes an expectation meaningless, or impossible to be wrong."""
    faults = [*_list_target_faults(sent), *_list_value_faults(sent)]
    return faults[0] if faults else None


def _list_target_faults(sent: SentExpectation) -> list[Fault]:
    faults: list[Fault] = []
    if (sent.target is None) != (sent.is_ in PAGE_ASPECTS):
        faults.append(Fault("target", "must name an element, or be null for `url` and `title`"))
    if sent.target is not None and not _is_located(sent.target):
        faults.append(Fault("target", "must have a selector, a test id, a text, or a role and a name"))
    if sent.other is not None and not _is_located(sent.other):
        faults.append(Fault("other", "must have a selector, a test id, a text, or a role and a name"))
    if (sent.other is None) == (sent.is_ in RELATIONS) and sent.is_ not in LOOSE_RELATIONS:
        faults.append(Fault("other", "must be an element for `apart` and `same_as`, and null otherwise"))
    elif sent.other is not None and sent.other == sent.target:
        faults.append(Fault("other", "must be another element than `target`"))
    if (sent.name is None) == (sent.is_ is Aspect.ATTRIBUTE):
        faults.append(Fault("name", "must be the attribute's name, and null unless `is` is `attribute`"))
    return faults


def _list_value_faults(sent: SentExpectation) -> list[Fault]:
    if sent.is_ is Aspect.CHECKED:
        return [] if sent.right in (None, "true", "false") else [Fault("right", "must be `true` or `false`")]
    if sent.is_ not in COMPARED:
        return [] if sent.right is None else [Fault("right", f"must be null if `is` is `{sent.is_.value}`")]
    if sent.right is None and sent.seen is None:
        return [Fault("right", "must say what is right, or `seen` what is wrong")]
    if sent.right is not None and sent.right == sent.seen:
        return [Fault("right", "must differ from `seen`")]
    counts = [each for each in (sent.right, sent.seen) if each is not None]
    if sent.is_ is Aspect.COUNT and not all(re.fullmatch("[0-9]{1,6}", each) for each in counts):
        return [Fault("right", "must be a number of elements, and so must `seen`")]
    return []


def _is_located(target: ActionTarget) -> bool:
    return bool(target.selectors or target.test_id or target.text or (target.role and target.name))


def normalize_expectation(sent: SentExpectation) -> None:
    """Fold the white space of what is compared without it."""
    if sent.is_ in {Aspect.TEXT, Aspect.SAME_AS, Aspect.TITLE}:
        sent.seen = None if sent.seen is None else fold_spaces(sent.seen)
        sent.right = None if sent.right is None else fold_spaces(sent.right)


def fold_spaces(text: str) -> str:
    """Fold white space as Playwright does it (`normalizeWhiteSpace`)."""
    return " ".join(re.sub("[\u200b\u00ad]", "", text).split())


def describe_expectation(sent: SentExpectation) -> str:
    """Say in a sentence what is right, and what was seen."""
    seen = sent.shown.seen if sent.shown and sent.shown.seen is not None else sent.seen
    right = sent.shown.right if sent.shown and sent.shown.right is not None else sent.right
    name = "The page" if sent.target is None else _name_element(sent.target, sent, "The")
    other = "the window" if sent.other is None else _name_element(sent.other, sent, "the")
    match sent.is_:
        case Aspect.VISIBLE:
            return f"{name} should be visible{'' if sent.other is None else f', near {other}'}"
        case Aspect.ABSENT:
            return f"{name} should not be here"
        case Aspect.ENABLED | Aspect.DISABLED:
            return f"{name} should be {sent.is_.value}"
        case Aspect.CHECKED:
            return f"{name} should {'not ' if right == 'false' else ''}be checked"
        case Aspect.FITS:
            return f"{name} should not be cut off"
        case Aspect.INSIDE:
            return f"{name} should be inside {other}"
        case Aspect.APART:
            return f"{name} should not overlap {other}"
        case Aspect.SAME_AS:
            return f"{name} should be the same as {other}{_write_seen(seen)}"
        case _:
            subject = {
                Aspect.VALUE: f"The value of {name}",
                Aspect.COUNT: f"The number of {name}",
                Aspect.ATTRIBUTE: f"The attribute {_quote(sent.name)} of {name}",
                Aspect.URL: "The address",
                Aspect.TITLE: "The page’s title",
            }.get(sent.is_, name)
            if right is None:
                return f"{subject} should not be {_quote(seen)}"
            return f"{subject} should be {_quote(right)}{_write_seen(seen)}"


def _write_seen(seen: str | None) -> str:
    return "" if seen is None else f"; it was {_quote(seen)}"


def _name_element(target: ActionTarget, sent: SentExpectation, article: str) -> str:
    """Name an element by what isn't wrong about it."""
    wrong = {sent.seen, sent.right, sent.shown and sent.shown.seen} if sent.is_ in COMPARED else {None}
    names = (target.name, target.text, target.test_id)
    named = next((each for each in names if each and each.strip() and fold_spaces(each) not in wrong), None)
    return _quote(named) if named else f"{article} {target.role or 'element'}"


def _quote(text: str | None) -> str:
    folded = fold_spaces(text or "")
    return f"“{folded if len(folded) <= MAX_NAME else f'{folded[: MAX_NAME - 1].rstrip()}…'}”"
