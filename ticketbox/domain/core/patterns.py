"""Patterns that must match a whole text, for validation and for schemas."""

from msgspec import Meta


def match_whole(pattern: str) -> Meta:
    r"""Build the constraint that a pattern matches the whole text; put alternatives in a group.

    The pattern ends in `\Z`, because Python's `$` also matches before a final line feed.
    """
    return Meta(pattern=rf"^{pattern}\Z")


def to_schema_pattern(pattern: str) -> str:
    r"""Convert a pattern for schemas (ECMA-262), where `$` matches only at the end and `\Z` doesn't exist."""
    return pattern.removesuffix(r"\Z") + "$" if pattern.endswith(r"\Z") else pattern
