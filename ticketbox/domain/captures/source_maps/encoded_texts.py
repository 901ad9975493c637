"""The texts of a JSON array, which are decoded when they are read: together they can take ten times its length."""

import re
from array import array

import msgspec

from ticketbox.domain.captures.source_maps.mappings import InvalidSourceMap

# A text, null, or in a group what is neither.
_ITEM = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|null|([^\s,])')


class EncodedTexts:
    """The items of an array that is valid JSON: texts and nulls. `null` has none.

    Raises InvalidSourceMap if there are more than `most` or anything else; texts of more than `longest` bytes are
    ignored.
    """

    def __init__(self, encoded: msgspec.Raw, name: str, most: int, longest: int) -> None:
        self._encoded = memoryview(encoded)
        self._longest = longest
        self._bounds = array("I")  # where each item begins and ends
        if bytes(self._encoded[:1]) != b"[":
            if bytes(self._encoded[:5]) != b"null":
                raise InvalidSourceMap(f"its {name} aren't a list")
            return
        for item in _ITEM.finditer(self._encoded, 1, len(self._encoded) - 1):
            if item[1] is not None:
                raise InvalidSourceMap(f"its {name} aren't texts")
            if len(self._bounds) == 2 * most:
                raise InvalidSourceMap(f"it has more than {most:,} {name}")
            self._bounds.extend(item.span())

    def __len__(self) -> int:
        """Return the number of items."""
        return len(self._bounds) // 2

    def decode(self, index: int) -> str | None:
        """Decode an item; None if it is null, too long, damaged or not there."""
        if not 0 <= index < len(self):
            return None
        start, end = self._bounds[2 * index : 2 * index + 2]
        if end - start > self._longest:
            return None
        try:
            return msgspec.json.decode(self._encoded[start:end], type=str | None)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None
