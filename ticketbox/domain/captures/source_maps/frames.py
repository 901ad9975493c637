"""Frames of stacks, as a browser wrote them, and where they are in the author's files."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType, field
from msgspec.structs import replace

from ticketbox.domain.captures.fields import Address, Line
from ticketbox.domain.core.unsafe_characters import remove_unsafe

AROUND = 2  # lines before and after a frame's
MAX_CONTEXT = 2 * AROUND + 1

Number = Annotated[int, Meta(ge=0, le=2**53 - 1)]


class OriginalFrame(Struct, gc=False, frozen=True):  # in stored streams, it can have fields that are gone
    """The place of a frame in the author's file, found with a source map. Lines and columns begin at 1."""

    file: Annotated[Line, Meta(examples=["src/cart/total.ts"])]
    line: Number
    column: Number
    context: Annotated[
        list[Line],
        Meta(max_length=MAX_CONTEXT, description="The line with up to two lines before and after it, if known."),
    ] = field(default_factory=list[str])
    from_page: Annotated[
        bool | UnsetType,
        Meta(description="True if the client resolved it with the page's own map. An uploaded map replaces it."),
    ] = UNSET

    @property
    def place(self) -> str:
        """File, line and column."""
        return f"{self.file}:{self.line}:{self.column}"

    @property
    def code(self) -> str:
        """The line itself, without its indentation; empty if it isn't known."""
        index = min(self.line - 1, AROUND)
        return self.context[index].strip() if 0 <= index < len(self.context) else ""


class Frame(Struct, gc=False, forbid_unknown_fields=True):
    """One line of a stack."""

    url: Address
    function: Line | None = None
    line: Number | None = None
    column: Number | None = None
    debug_id: Annotated[
        Annotated[str, Meta(max_length=64)] | UnsetType, Meta(description="The debug id of the script, if known.")
    ] = UNSET
    original: Annotated[
        OriginalFrame | UnsetType, Meta(description="Its place in the author's file, found with a source map.")
    ] = UNSET

    @property
    def is_resolved(self) -> bool:
        """Whether an uploaded map resolved it."""
        return self.original is not UNSET and self.original.from_page is not True


def mark_as_from_page(frames: Sequence[Frame]) -> None:
    """Mark what a client resolved, even if it says otherwise, and remove unsafe characters from the names of files."""
    for frame in frames:
        if (original := frame.original) is not UNSET:
            frame.original = replace(original, file=remove_unsafe(original.file), from_page=True)


def remove_originals(frames: Sequence[Frame]) -> None:
    """Remove what was resolved."""
    for frame in frames:
        frame.original = UNSET
