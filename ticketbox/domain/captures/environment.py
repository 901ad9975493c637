"""What a captured page ran in: browser, window, web vitals, long frames, and what the page declares.

Durations are milliseconds. What the browser or the client doesn't measure is left out.
"""

from enum import StrEnum
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType, field

from ticketbox.domain.captures.fields import DocumentIndex, Line, Time

NAME, VALUE, SCRIPT_URL = 200, 200, 1_000
MAX_FRAMES, MAX_SCRIPTS, MAX_DECLARED, MAX_STORED, MAX_STORED_VALUE = 10, 3, 50, 50, 8_192

_Milliseconds = Annotated[float, Meta(ge=0, le=1e9)]
_Name = Annotated[str, Meta(max_length=NAME)]
_Names = Annotated[list[_Name], Meta(max_length=MAX_STORED)]
_Values = Annotated[
    dict[_Name, Annotated[str, Meta(max_length=MAX_STORED_VALUE)] | None],
    Meta(max_length=MAX_STORED, description="Names with stand-ins of their values; null if a value isn't recorded."),
]


class Size(Struct, forbid_unknown_fields=True):
    """A width and a height in CSS pixels."""

    width: Annotated[int, Meta(ge=0, le=1_000_000)]
    height: Annotated[int, Meta(ge=0, le=1_000_000)]


class ColorScheme(StrEnum):
    """The color scheme that a browser prefers (https://www.w3.org/TR/mediaqueries-5/#prefers-color-scheme)."""

    LIGHT = "light"
    DARK = "dark"


class WebVitals(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """How fast and stable the page was until the capture, as https://web.dev/articles/vitals defines it."""

    lcp_ms: Annotated[_Milliseconds, Meta(description="Largest Contentful Paint.")] | UnsetType = UNSET
    inp_ms: Annotated[_Milliseconds, Meta(description="Interaction to Next Paint.")] | UnsetType = UNSET
    cls: Annotated[float, Meta(ge=0, le=1e6, description="Cumulative Layout Shift, without a unit.")] | UnsetType = (
        UNSET
    )
    fcp_ms: Annotated[_Milliseconds, Meta(description="First Contentful Paint.")] | UnsetType = UNSET
    ttfb_ms: Annotated[_Milliseconds, Meta(description="Time to First Byte.")] | UnsetType = UNSET


class FrameScript(Struct, forbid_unknown_fields=True):
    """A script that ran in a long frame."""

    duration_ms: _Milliseconds
    url: Annotated[str, Meta(max_length=SCRIPT_URL, description="Empty if the browser hides it.")] = ""
    function: Annotated[_Name, Meta(description="Where the script was entered; empty if it has no name.")] = ""
    invoker: Annotated[_Name, Meta(description="What called it.", examples=["BUTTON#pay.onclick"])] = ""


class LongFrame(Struct, forbid_unknown_fields=True):
    """An animation frame of more than 50 ms, with the scripts that took longest."""

    ts: Time
    duration_ms: _Milliseconds
    blocking_ms: Annotated[_Milliseconds, Meta(description="How long input had to wait.")] = 0
    scripts: Annotated[list[FrameScript], Meta(max_length=MAX_SCRIPTS, description="Longest first.")] = field(
        default_factory=list[FrameScript]
    )


class StoredAtStart(Struct, forbid_unknown_fields=True):
    """What a document had stored before its first script ran, without what an earlier one had."""

    document: DocumentIndex = 0
    local: _Values = field(default_factory=dict[str, str | None])
    session: _Values = field(default_factory=dict[str, str | None])
    cookies: Annotated[_Names, Meta(description="Cookies, without those that scripts can't read.")] = field(
        default_factory=list[str]
    )


class StorageNames(Struct, forbid_unknown_fields=True):
    """The names that a page's scripts can read in its storage. The values that it has now aren't part of a capture."""

    local: Annotated[_Names, Meta(description="Keys of localStorage.")] = field(default_factory=list[str])
    session: Annotated[_Names, Meta(description="Keys of sessionStorage.")] = field(default_factory=list[str])
    cookies: Annotated[_Names, Meta(description="Cookies, without those that scripts can't read.")] = field(
        default_factory=list[str]
    )
    omitted: Annotated[int, Meta(ge=0, le=2**53 - 1, description="Names beyond 50 of a kind.")] = 0
    start: (
        Annotated[list[StoredAtStart], Meta(max_length=MAX_STORED, description="What documents began with, in order.")]
        | UnsetType
    ) = UNSET


class Environment(Struct, forbid_unknown_fields=True):
    """What the page ran in."""

    browser: Annotated[Line | None, Meta(examples=["Chrome 142.0"])] = None
    os: Annotated[Line | None, Meta(examples=["Linux x86_64"])] = None
    viewport: Size | None = None
    screen: Size | None = None
    dpr: Annotated[Annotated[float, Meta(gt=0, le=100)] | None, Meta(description="Device pixels per CSS pixel.")] = None
    language: Annotated[Line | None, Meta(examples=["en-GB"])] = None
    timezone: Annotated[Line | None, Meta(examples=["Europe/Berlin"])] = None
    release: Annotated[
        Line | None, Meta(description="The release that the page declares.", examples=["shop@1.4.2"])
    ] = None
    color_scheme: Annotated[ColorScheme, Meta(description="What the browser prefers.")] | UnsetType = UNSET
    reduced_motion: Annotated[bool, Meta(description="Whether the browser prefers less motion.")] | UnsetType = UNSET
    touch: Annotated[bool, Meta(description="Whether fingers are the main way to point.")] | UnsetType = UNSET
    extension: Annotated[_Name, Meta(description="The extension's version.", examples=["1.4.0"])] | UnsetType = UNSET
    vitals: WebVitals | UnsetType = UNSET
    long_frames: (
        Annotated[list[LongFrame], Meta(max_length=MAX_FRAMES, description="The longest, in the order of time.")]
        | UnsetType
    ) = UNSET
    declared: (
        Annotated[
            dict[_Name, Annotated[str, Meta(max_length=VALUE)]],
            Meta(max_length=MAX_DECLARED, description="Feature flags and other values that the page declares."),
        ]
        | UnsetType
    ) = UNSET
    storage: StorageNames | UnsetType = UNSET

    def without_details(self) -> "Environment":
        """Return a copy for lists: without long frames, declared values and storage names."""
        return Environment(
            self.browser, self.os, self.viewport, self.screen, self.dpr, self.language, self.timezone, self.release,
            self.color_scheme, self.reduced_motion, self.touch, self.extension, self.vitals,
        )  # fmt: skip
