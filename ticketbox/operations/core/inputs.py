"""Types of input fields that several operations share, with their limits."""

from datetime import date
from typing import Annotated

import msgspec
from msgspec import Meta

from ticketbox.domain.accounts import email_addresses
from ticketbox.domain.core.patterns import match_whole
from ticketbox.domain.core.unsafe_characters import REORDERING

# No control characters and none that reorder text; at least one that isn't white space. NUL never gets into the file.
_ANY = rf"[^\x00-\x1f\x7f{REORDERING}]"
Line = match_whole(rf"{_ANY}*[^\s\x00-\x1f\x7f{REORDERING}]{_ANY}*")
_TEXT = match_whole(r"[^\x00]*")

Name = Annotated[str, Meta(min_length=1, max_length=100, description="One line.", examples=["Webshop"]), Line]
Title = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=300,
        description="One line.",
        examples=["The cart stays empty"],
    ),
    Line,
]
MAX_MARKDOWN = 100_000
MAX_LABEL = 50

Markdown = Annotated[str, Meta(max_length=MAX_MARKDOWN, description="Markdown."), _TEXT]
Text = Annotated[str, Meta(max_length=2_000), _TEXT]
CommentBody = Annotated[
    str,
    Meta(min_length=1, max_length=50_000, description="Markdown.", examples=["Fixed on `main`."]),
    _TEXT,
]
Label = Annotated[
    str, Meta(min_length=1, max_length=MAX_LABEL, description="A label's name.", examples=["checkout"]), Line
]
Labels = Annotated[list[Label], Meta(max_length=20, description="Labels are compared without case.")]
LabelDescription = Annotated[
    str, Meta(max_length=200, description="What the label is for, in one line; may be empty."), match_whole(rf"{_ANY}*")
]
Branch = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=250,
        description="The name of a git branch.",
        examples=["t-4k7m2q9x-empty-cart"],
    ),
    match_whole(r"[A-Za-z0-9._][A-Za-z0-9._/\-+@#]*"),
]
AnyBranch = Annotated[str, Meta(min_length=1, max_length=250, examples=["main"]), Line]  # as git names it
Commit = Annotated[
    str,
    Meta(min_length=7, max_length=64, description="A commit: 7 to 64 hexadecimal digits."),
    match_whole(r"[0-9A-Fa-f]*"),
]
Url = Annotated[
    str,
    Meta(
        max_length=8_192,
        description="An http, https or file address, without a login.",
        examples=["https://shop.example/cart"],
    ),
    match_whole(
        r"([hH][tT][tT][pP][sS]?://[^\x00-\x20\x7f/?#@\\]+([/?#][^\x00-\x20\x7f]*)?|[fF][iI][lL][eE]:///[^\x00-\x20\x7f]*)"
    ),
]
Email = Annotated[
    str,
    Meta(
        min_length=3,
        max_length=254,
        description="An email address.",
        examples=["ann@example.org"],
    ),
    email_addresses.FORM,
]
Password = Annotated[str, Meta(min_length=10, max_length=200, description="At least 10 characters."), _TEXT]
DueDate = Annotated[
    date,
    Meta(description="The day by which the ticket should be done, such as `2026-12-24`.", examples=["2026-12-24"]),
]
Secret = Annotated[str, Meta(min_length=1, max_length=200)]


class Nothing(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """No input."""


def normalize_labels(labels: list[str]) -> list[str]:
    """Strip white space around labels, and remove duplicates, compared without case. Keeps the order."""
    known: dict[str, str] = {}
    for label in labels:
        known.setdefault(label.strip().casefold(), label.strip())
    return list(known.values())
