"""Frames of stacks, as a browser wrote them, and where they are in the author's files."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType, field

from ticketbox.domain.captures.fields import Address, Line

MAX_CONTEXT = 5  # lines

Number = Annotated[int, Meta(ge=0, le=2**53 - 1)]


class OriginalFrame(Struct, forbid_unknown_fields=True, frozen=True):
    """The place of a frame in the author's file, found with a source map. Lines and columns begin at 1."""

    file: Annotated[Line, Meta(examples=["src/cart/total.ts"])]
    line: Number
    column: Number
    function: Line | None = None
    context: Annotated[
        list[Line],
        Meta(max_length=MAX_CONTEXT, description="The line with up to two lines before and after it, if known."),
    ] = field(default_factory=list[str])

    @property
    def place(self) -> str:
        """File, line and column."""
        return f"{self.file}:{self.line}:{self.column}"


class Frame(Struct, forbid_unknown_fields=True):
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
