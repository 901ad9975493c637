"""The kinds of input that several nouns take, with their bounds."""

from typing import Annotated

from msgspec import Meta

# No control characters; at least one that isn't white space. NUL never gets into the file.
_LINE = r"^[^\x00-\x1f\x7f]*[^\s\x00-\x1f\x7f][^\x00-\x1f\x7f]*$"
_TEXT = r"^[^\x00]*$"

Name = Annotated[str, Meta(min_length=1, max_length=100, pattern=_LINE, examples=["Webshop"])]
Title = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=300,
        pattern=_LINE,
        description="One line.",
        examples=["The cart stays empty"],
    ),
]
Markdown = Annotated[str, Meta(max_length=100_000, pattern=_TEXT, description="Markdown.")]
Text = Annotated[str, Meta(max_length=2_000, pattern=_TEXT)]
CommentBody = Annotated[
    str,
    Meta(min_length=1, max_length=50_000, pattern=_TEXT, description="Markdown.", examples=["Fixed on `main`."]),
]
Label = Annotated[str, Meta(min_length=1, max_length=50, pattern=_LINE, examples=["checkout"])]
Labels = Annotated[list[Label], Meta(max_length=20, description="Case doesn't matter when they are compared.")]
Branch = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=250,
        pattern=r"^[A-Za-z0-9._][A-Za-z0-9._/\-+@#]*$",
        description="A git branch's name.",
        examples=["t-4k7m2q9x-empty-cart"],
    ),
]
Url = Annotated[
    str,
    Meta(
        max_length=8_192,
        pattern=r"^[A-Za-z][A-Za-z0-9+.\-]*:[^\x00-\x20\x7f]*$",
        description="An absolute address.",
        examples=["https://shop.example/cart"],
    ),
]
Email = Annotated[
    str,
    Meta(
        min_length=3,
        max_length=254,
        pattern=r"^[^@\s\x00-\x1f\x7f]+@[^@\s\x00-\x1f\x7f]+$",
        examples=["ann@example.org"],
    ),
]
Password = Annotated[str, Meta(min_length=10, max_length=200, pattern=_TEXT, description="10 characters at least.")]
Secret = Annotated[str, Meta(min_length=1, max_length=200)]


def tidy_labels(labels: list[str]) -> list[str]:
    """Labels without white space around them, each once whatever its case, in the order given."""
    known: dict[str, str] = {}
    for label in labels:
        known.setdefault(label.strip().casefold(), label.strip())
    return list(known.values())
