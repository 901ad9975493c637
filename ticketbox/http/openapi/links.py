"""OpenAPI links: from the answer that makes a record to the operations on it."""

import msgspec

from ticketbox.operations.core.registry import Operation, Registry
from ticketbox.operations.core.schemas import Json


def links(registry: Registry, maker: Operation, result: type[msgspec.Struct]) -> Json:
    """The operations whose path takes the id of what `maker` makes, with where the answer holds each part."""
    held = {name: name for name in result.__struct_fields__ if name.endswith("_id")}
    own = set(held)
    if "id" in result.__struct_fields__:
        name = _singular(maker.routes[0].path.rpartition("/")[2]) + "_id"
        held[name] = "id"
        own = {name}
    return {
        operation.name: {
            "operationId": operation.name,
            "parameters": {name: f"$response.body#/{held[name]}" for name in route.parameters},
        }
        for route, operation in registry.routes()
        if own & set(route.parameters) and held.keys() >= set(route.parameters)
    }


def _singular(noun: str) -> str:
    irregular = {"companies": "company", "attachments": "asset"}
    return irregular.get(noun, noun.removesuffix("s"))
