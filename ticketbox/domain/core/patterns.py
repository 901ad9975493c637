"""Patterns that a whole text must fit, for the check and for the schemas."""

from msgspec import Meta


def match_whole(pattern: str) -> Meta:
    r"""A text's pattern, from its first character to its last; alternatives stand in brackets.

    It ends in `\Z`, because Python's `$` also matches before a final line feed.
    """
    return Meta(pattern=rf"^{pattern}\Z")


def to_schema_pattern(pattern: str) -> str:
    r"""The same pattern for schemas (ECMA-262), where `$` is the end and `\Z` is nothing."""
    return pattern.removesuffix(r"\Z") + "$" if pattern.endswith(r"\Z") else pattern
