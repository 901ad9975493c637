"""Unicode normalisation: texts that look the same are the same (UAX #15)."""

import unicodedata
from collections.abc import Mapping
from typing import Any, cast

FORM = "NFC"


def normalize_text(text: str) -> str:
    """Return a text in Normalization Form C, in which most programs write; macOS writes names of files in another."""
    return unicodedata.normalize(FORM, text)


def normalize_texts(value: Any) -> Any:
    """Return a value as it was decoded, with all texts in it normalised, also names of members."""
    if isinstance(value, str):
        return normalize_text(value)
    if isinstance(value, Mapping):
        members = cast(Mapping[str, Any], value)
        return {normalize_text(name): normalize_texts(each) for name, each in members.items()}
    if isinstance(value, list):
        return [normalize_texts(each) for each in cast(list[Any], value)]
    return value
