"""Clipping JSON objects to what fits a model's context."""

import typing
from typing import Any

import msgspec

from ticketbox.domain.core.access.tokens import clip_text, fits

Json = dict[str, Any]

_FEWEST_TOKENS = 100


def encode_json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def clip_texts(record: Json, tokens: int) -> Json:
    """Clip the longest texts of a record until it fits."""
    text = encode_json(record)
    share = tokens
    while not fits(text, tokens) and share > _FEWEST_TOKENS:
        share //= 2
        record = _map_texts(record, share)
        text = encode_json(record)
    return record


def _map_texts(node: Any, tokens: int) -> Any:
    if isinstance(node, str):
        return clip_text(node, tokens)
    if isinstance(node, list):
        items = typing.cast(list[Any], node)
        kept = [_map_texts(item, tokens) for item in items[: max(5, tokens // 20)]]
        return kept if len(kept) == len(items) else [*kept, f"… [{len(items) - len(kept):,} more]"]
    if isinstance(node, dict):
        return {name: _map_texts(part, tokens) for name, part in typing.cast(Json, node).items()}
    return node
