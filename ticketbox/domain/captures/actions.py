"""What a person did on a page: the entries of the stream `actions`.

An entry never has the value of a field, only its kind and a class of its length.
"""

from enum import StrEnum
from typing import Annotated

from msgspec import Meta, Struct, field

from ticketbox.domain.captures.fields import Address, DocumentIndex, FrameAddress, Line, Position, Time
from ticketbox.domain.core.patterns import match_whole

MAX_SELECTORS = 10


class ActionKind(StrEnum):
    """What was done, or what happened to the page's window."""

    NAVIGATE = "navigate"
    CLICK = "click"
    INPUT = "input"
    CHANGE = "change"
    SUBMIT = "submit"
    KEY = "key"
    SCROLL = "scroll"
    VISIBILITY = "visibility"
    RESIZE = "resize"


class ActionTarget(Struct, gc=False, forbid_unknown_fields=True):
    """The element of an action. A field that the page marks as private has no name and no locators."""

    role: Annotated[Line | None, Meta(description="Its ARIA role.", examples=["button"])] = None
    name: Annotated[Line | None, Meta(description="Its accessible name.", examples=["Apply gift card"])] = None
    test_id: Annotated[Line | None, Meta(description="The value of its test id attribute.")] = None
    text: Annotated[Line | None, Meta(description="The start of its text.")] = None
    selectors: Annotated[
        list[Line],
        Meta(
            max_length=MAX_SELECTORS,
            description="Playwright locators that find only this element, best first.",
            examples=[['role=button[name="Apply gift card"]', "#gift > button"]],
        ),
    ] = field(default_factory=list[str])


class ActionEntry(Struct, gc=False, forbid_unknown_fields=True):
    """One thing that a person did; equal ones in a row are counted."""

    seq: Position
    ts: Time
    kind: ActionKind
    target: Annotated[ActionTarget | None, Meta(description="Null if it concerns the page.")] = None
    value_kind: Annotated[
        Annotated[str, Meta(max_length=40), match_whole("[a-z]{1,12}( [0-9]{1,9}([–-][0-9]{1,9}|[+])?)?")] | None,
        Meta(description="The kind and the length of a field's value, never the value.", examples=["text 1–10"]),
    ] = None
    url: Annotated[Address | None, Meta(description="The address that a navigation opened.")] = None
    frame: FrameAddress = None
    key: Annotated[
        Annotated[
            str,
            Meta(max_length=40),
            match_whole(
                r"([A-Z][A-Za-z0-9]{1,18}|((Ctrl|Alt|Shift|Meta)\+)+([A-Z][A-Za-z0-9]{1,18}|[^\x00-\x20\x7f]))"
            ),
        ]
        | None,
        Meta(description="A key or a shortcut, never a typed character.", examples=["Enter", "Ctrl+S"]),
    ] = None
    repeat: Annotated[int, Meta(ge=1, le=2**53 - 1, description="Equal actions in a row, folded into one.")] = 1
    synthetic: Annotated[bool, Meta(description="Whether a script caused it, not a person.")] = False
    document: DocumentIndex = 0
