"""What people can't see is removed from what agents read, and the answer says so (docs/use/agents.md)."""

import typing
from typing import Any

from ticketbox.domain.core.hidden_text import (
    HIDDEN_CHARACTERS,
    may_hide,
    remove_hidden_characters,
    remove_hidden_markdown,
)
from ticketbox.mcp.clipping import Json, encode_json

_MARKDOWN = {"description", "body", "question", "answer", "note", "comment"}
_NOTE = "hidden_text_removed"
_PARSED = 15_000  # characters of an answer


class _Removal:
    """Copies a result without hidden text, and counts what it leaves out."""

    def __init__(self) -> None:
        self.found = 0
        self._room = _PARSED

    def copy(self, node: Any, *, markdown: bool = False) -> Any:
        if isinstance(node, str):
            return self._copy_text(node, markdown=markdown)
        if isinstance(node, list):
            return [self.copy(item) for item in typing.cast(list[Any], node)]
        if isinstance(node, dict):
            record = typing.cast(Json, node)
            of_request = "headers" in record  # whose body isn't Markdown
            return {
                name: self.copy(part, markdown=name in _MARKDOWN and not of_request) for name, part in record.items()
            }
        return node

    def _copy_text(self, text: str, *, markdown: bool) -> str:
        text, characters = remove_hidden_characters(text)
        parts = 0
        if markdown:
            text, parts = remove_hidden_markdown(text, self._room)
            self._room -= len(text)
        self.found += characters + parts
        return text


def remove_hidden_text(structured: Json) -> Json:
    """Return a result without hidden text; `hidden_text_removed` counts it."""
    encoded = encode_json(structured)
    if not HIDDEN_CHARACTERS.search(encoded) and not may_hide(encoded):
        return structured
    removal = _Removal()
    cleaned = typing.cast(Json, removal.copy(structured))
    found = removal.found + structured.get(_NOTE, 0)
    return {**cleaned, _NOTE: found} if found else cleaned
