"""The fields that the entries of a capture share, with their bounds.

Times are epoch milliseconds and may be fractional, as `performance.timeOrigin + performance.now()`
returns them. Sizes are bytes.
"""

from typing import Annotated

from msgspec import Meta, Struct

LINE = 4_096
URL = 65_536
TEXT = 262_144
BODY = 65_536

Time = Annotated[
    float,
    Meta(ge=0, le=253_402_300_799_999, description="Epoch milliseconds.", examples=[1_760_000_000_123.4]),
]
Position = Annotated[
    int,
    Meta(ge=0, le=2**53 - 1, description="Position in the page's own order, shared by all streams."),
]
Bytes = Annotated[int, Meta(ge=0, le=2**53 - 1, description="Size on the wire in bytes.")]
Tally = Annotated[int, Meta(ge=0, le=2**53 - 1)]
Line = Annotated[str, Meta(max_length=LINE)]
Text = Annotated[str, Meta(max_length=TEXT)]
Address = Annotated[str, Meta(max_length=URL)]
Body = Annotated[
    Annotated[str, Meta(max_length=BODY)] | None, Meta(description="Text, at most 16 KiB; null when omitted.")
]
Headers = Annotated[
    dict[Annotated[str, Meta(max_length=256)], Annotated[str, Meta(max_length=16_384)]],
    Meta(max_length=200, description="Header names and values; several of one name are joined with commas."),
]
FrameAddress = Annotated[
    Address | None, Meta(description="Address of the iframe that it happened in; null for the page itself.")
]
DocumentIndex = Annotated[
    int,
    Meta(ge=0, le=10_000, description="The document of the tab that it happened in; 0 is the oldest of the capture."),
]


class Redirect(Struct, gc=False, forbid_unknown_fields=True):
    """One redirect of a request."""

    status: Annotated[int, Meta(ge=100, le=599, examples=[302])]
    url: Annotated[Address, Meta(description="Where it led.")]
