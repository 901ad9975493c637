"""OpenAPI links, from the answer that creates a record to the operations on that record."""

import msgspec

from ticketbox.operations.core.registry import Operation, Registry
from ticketbox.operations.core.schemas import Json


def build_links(registry: Registry, creator: Operation, result: type[msgspec.Struct]) -> Json:
    """Link each operation whose path contains the id of the record that `creator` creates.

    The parameters of a link say where in the answer the ids are.
    """
    fields = {name: name for name in result.__struct_fields__ if name.endswith("_id")}
    required = set(fields)
    if "id" in result.__struct_fields__:
        name = _derive_singular(creator.routes[0].path.rpartition("/")[2]) + "_id"
        fields[name] = "id"
        required = {name}
    return {
        operation.name: {
            "operationId": operation.name,
            "parameters": {name: f"$response.body#/{fields[name]}" for name in route.parameters},
        }
        for route, operation in registry.list_routes()
        if required & set(route.parameters) and fields.keys() >= set(route.parameters)
    }


def _derive_singular(noun: str) -> str:
    irregular = {"companies": "company", "attachments": "asset"}
    return irregular.get(noun, noun.removesuffix("s"))
