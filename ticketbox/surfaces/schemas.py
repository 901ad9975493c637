"""JSON schemas of the records and inputs, for every surface that shows them."""

from collections.abc import Iterable
from typing import Any, cast

import msgspec

from ticketbox.domain.patterns import portable

Json = dict[str, Any]


def schemas(shapes: Iterable[Any], template: str) -> tuple[list[Json], Json]:
    """The schema of each type, and by their names those that they refer to as the template says."""
    found, components = msgspec.json.schema_components(shapes, ref_template=template)
    return [_shown(each) for each in found], _shown(components)


def _shown(node: Any) -> Any:
    if isinstance(node, list):
        return [_shown(each) for each in cast(list[Any], node)]
    if not isinstance(node, dict):
        return node
    return {
        key: portable(value) if key == "pattern" and isinstance(value, str) else _shown(value)
        for key, value in cast(Json, node).items()
    }
