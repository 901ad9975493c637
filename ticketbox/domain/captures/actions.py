"""What a person did on a page: the entries of the stream `actions`.

An entry never has the value of a field, only its kind and a class of its length.
"""

from enum import StrEnum
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType, field

from ticketbox.domain.captures.fields import Address, DocumentIndex, FrameAddress, Line, Position, Time
from ticketbox.domain.core.patterns import match_whole

MAX_SELECTORS = 10
MAX_FRAMES = 10
RULE = 200  # characters


class ActionKind(StrEnum):
    """What was done, or what happened to the page's window."""

    NAVIGATE = "navigate"
    CLICK = "click"
    INPUT = "input"
    CHANGE = "change"
    SUBMIT = "submit"
    KEY = "key"
    DRAG = "drag"
    HOVER = "hover"
    DIALOG = "dialog"
    SCROLL = "scroll"
    VISIBILITY = "visibility"
    RESIZE = "resize"


class Button(StrEnum):
    """A mouse button that isn't the main one."""

    RIGHT = "right"
    MIDDLE = "middle"


class Dialog(StrEnum):
    """A native dialog."""

    ALERT = "alert"
    CONFIRM = "confirm"
    PROMPT = "prompt"


class Trait(StrEnum):
    """What an entered text has, or how large an entered number is."""

    DIGIT = "digit"
    LETTER = "letter"
    SPACE = "space"
    NEGATIVE = "negative"
    ABOVE_100 = "above_100"


Point = Annotated[list[Annotated[int, Meta(ge=-(2**31), le=2**31)]], Meta(min_length=2, max_length=2)]
Rule = Annotated[str, Meta(max_length=RULE)] | UnsetType
Length = Annotated[int, Meta(ge=0, le=2**31)] | UnsetType


class FieldRules(Struct, gc=False, forbid_unknown_fields=True):
    """What the page's markup says that a field accepts."""

    pattern: Rule = UNSET
    min: Rule = UNSET
    max: Rule = UNSET
    step: Rule = UNSET
    min_length: Length = UNSET
    max_length: Length = UNSET
    accept: Rule = UNSET
    input_mode: Rule = UNSET


class ActionTarget(Struct, gc=False, forbid_unknown_fields=True):
    """The element of an action. A private field has no name, and its locators say only its type and place."""

    role: Annotated[Line | None, Meta(description="Its ARIA role.", examples=["button"])] = None
    name: Annotated[Line | None, Meta(description="Its accessible name.", examples=["Apply gift card"])] = None
    test_id: Annotated[Line | None, Meta(description="Its test id.")] = None
    text: Annotated[Line | None, Meta(description="The start of its text.")] = None
    selectors: Annotated[
        list[Line],
        Meta(
            max_length=MAX_SELECTORS,
            description="Playwright locators of it alone, best first.",
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
        Meta(
            description="The kind and the length of a field's value, never the value; `back`, `forward` or `reload`.",
            examples=["text 1–10"],
        ),
    ] = None
    url: Annotated[Address | None, Meta(description="The address that a navigation opened.")] = None
    frame: FrameAddress = None
    key: Annotated[
        Annotated[
            str,
            Meta(max_length=40),
            match_whole(
                r"([A-Z][A-Za-z0-9]{1,18}|[!-`{-~]|((Ctrl|Alt|Shift|Meta)\+)+([A-Z][A-Za-z0-9]{1,18}|[^\x00-\x20\x7f]))"
            ),
        ]
        | None,
        Meta(
            description="A key or a shortcut, never a character typed into a field; the keys held during a click.",
            examples=["Enter", "Ctrl+S"],
        ),
    ] = None
    repeat: Annotated[int, Meta(ge=1, le=2**53 - 1, description="Equal actions in a row, folded into one.")] = 1
    synthetic: Annotated[bool, Meta(description="Whether a script caused it, not a person.")] = False
    document: DocumentIndex = 0
    button: Annotated[Button | UnsetType, Meta(description="The mouse button of a click; the main one if unset.")] = (
        UNSET
    )
    point: Annotated[
        Point | UnsetType,
        Meta(
            description="Where in the element a click on a picture or a drag was, in CSS pixels from its top left "
            "corner; of a resized window, its size before."
        ),
    ] = UNSET
    to: Annotated[ActionTarget | UnsetType | None, Meta(description="What the element was dragged to.")] = UNSET
    to_point: Annotated[
        Point | UnsetType,
        Meta(description="Where in `to` a drag ended; how far was scrolled, or the new size of the window."),
    ] = UNSET
    dialog: Annotated[Dialog | UnsetType, Meta(description="The native dialog that was answered.")] = UNSET
    accepted: Annotated[bool | UnsetType, Meta(description="Whether the answer to the dialog was yes.")] = UNSET
    traits: Annotated[
        Annotated[list[Trait], Meta(max_length=10)] | UnsetType,
        Meta(description="What the entered text has; never the text.", examples=[["digit"]]),
    ] = UNSET
    field: FieldRules | UnsetType = UNSET
    frame_path: Annotated[
        Annotated[list[Line], Meta(max_length=MAX_FRAMES)] | UnsetType,
        Meta(description="Locators of the frames around the element, outermost first.", examples=[["#editor"]]),
    ] = UNSET
