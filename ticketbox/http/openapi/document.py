"""The OpenAPI 3.1 document, built from the registry. The Structs that validate input also describe it."""

import types
import typing
from typing import Any

import msgspec

from ticketbox import __version__
from ticketbox.domain.core.access.scopes import Access, Scope
from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.problems import FieldError
from ticketbox.domain.tickets.search_query import Span
from ticketbox.edge.site import name_session_cookie
from ticketbox.http.header_arguments import HeaderArgument, list_header_arguments
from ticketbox.http.openapi.links import build_links
from ticketbox.http.openapi.refusals import build_answers, group_by_status
from ticketbox.operations.core.content import Content, JsonList
from ticketbox.operations.core.registry import Body, Operation, Registry, Route
from ticketbox.operations.core.schemas import Json, build_schemas, list_answer_types

_REF = "#/components/schemas/{name}"
_REFUSAL = "#/components/responses/{name}"


class ProblemDocument(msgspec.Struct):
    """A refusal (RFC 9457). `code` is what programs compare."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    errors: list[FieldError] | msgspec.UnsetType = msgspec.UNSET
    scope: str | msgspec.UnsetType = msgspec.UNSET
    retry_after: int | msgspec.UnsetType = msgspec.UNSET
    valid: list[str] | msgspec.UnsetType = msgspec.UNSET
    at: Span | msgspec.UnsetType = msgspec.UNSET
    request_id: str | msgspec.UnsetType = msgspec.UNSET


def build_document(registry: Registry, public_url: str) -> Json:
    """Build the whole document for a server at this address."""
    routes = list(registry.list_routes())
    shapes: list[Any] = [ProblemDocument]
    for _, operation in routes:
        shapes.append(operation.arguments)
        shapes += [shape for shape in list_answer_types(operation) if shape not in {Content, types.NoneType}]
    schemas, components = build_schemas(shapes, _REF)
    known = dict(zip([_identify_shape(shape) for shape in shapes], schemas, strict=True))
    cookie = name_session_cookie(public_url)
    paths: dict[str, Json] = {}
    for route, operation in routes:
        arguments = _resolve_reference(known[_identify_shape(operation.arguments)], components)
        described = _describe_operation(route, operation, arguments, known)
        if operation.creates:
            described["responses"]["201"]["links"] = build_links(registry, operation, list_answer_types(operation)[0])
        paths.setdefault(route.path, {})[route.method.lower()] = described
    refused = build_answers(registry, {"$ref": _REF.format(name=ProblemDocument.__name__)})
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "ticketbox",
            "version": __version__,
            "summary": "A self-hosted ticket tracker for people and coding agents.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": f"{public_url}/api/v1"}],
        "tags": [{"name": name} for name in dict.fromkeys(operation.group.title() for _, operation in routes)],
        "paths": paths,
        "components": {
            "schemas": _collect_used_schemas([paths, refused], components),
            "responses": refused,
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "description": "An API token: `tok_…`."},
                "session": {"type": "apiKey", "in": "cookie", "name": cookie},
            },
        },
    }


def _identify_shape(shape: Any) -> str:
    return f"{getattr(shape, '__module__', '')}.{shape!r}"


def _resolve_reference(schema: Json, components: Json) -> Json:
    reference = schema.get("$ref")
    return components[reference.rpartition("/")[2]] if reference else schema


def _describe_operation(route: Route, operation: Operation, arguments: Json, known: dict[str, Json]) -> Json:
    properties: Json = arguments.get("properties", {})
    required = set(arguments.get("required", ()))
    in_path = {name for each in operation.routes for name in each.parameters}
    in_headers = list_header_arguments(operation)
    rest = {name: schema for name, schema in properties.items() if name not in in_path and name not in in_headers}
    parameters = [_describe_parameter("path", name, properties[name], True, operation) for name in route.parameters]
    if operation.body is Body.NONE:
        parameters += [
            _describe_parameter("query", name, schema, name in required, operation) for name, schema in rest.items()
        ]
    parameters += [_describe_header(header) for header in in_headers.values()]
    described: Json = {
        "operationId": operation.name + ("" if route == operation.routes[0] else "_by_query"),
        "tags": [operation.group.title()],
        "summary": operation.summary,
        "description": _compose_description(operation, arguments),
        "security": _list_security_schemes(operation),
    }
    if parameters:
        described["parameters"] = parameters
    if operation.body is not Body.NONE and (rest or operation.body is Body.MULTIPART):
        described["requestBody"] = _describe_body(operation, rest, sorted(required & rest.keys()))
    described["responses"] = _describe_responses(route, operation, known)
    return described


def _describe_parameter(place: str, name: str, schema: Json, required: bool, operation: Operation) -> Json:
    schema = dict(schema)
    described: Json = {"name": name, "in": place, "required": required}
    if description := schema.pop("description", None):
        described["description"] = description
    if schema.get("type") == "array" or any(part.get("type") == "array" for part in schema.get("anyOf", ())):
        described |= {"style": "form", "explode": False}
    schema["anyOf"] = [part for part in schema.get("anyOf", ()) if part != {"type": "null"}]
    if len(schema["anyOf"]) == 1:
        schema |= schema.pop("anyOf")[0]
    elif not schema["anyOf"]:
        del schema["anyOf"]
    if schema.get("default", 0) is None:
        del schema["default"]
    described["schema"] = schema
    if name in operation.examples:
        described["example"] = operation.examples[name]
    return described


def _describe_header(header: HeaderArgument) -> Json:
    return {
        "name": header.name,
        "in": "header",
        "required": False,
        "description": header.description,
        "schema": header.schema,
    }


def _compose_description(operation: Operation, arguments: Json) -> str:
    requirements = {
        Access.ANY: "Requires any valid credential.",
        Access.SESSION: "Requires a signed-in web session.",
        Access.PUBLIC: "Requires no credential.",
    }
    requirement = (
        f"Requires the scope `{operation.scope}`."
        if isinstance(operation.scope, Scope)
        else requirements[operation.scope]
    )
    budget = "" if operation.budget is Budget.NONE else f"Counts as one of the {operation.budget.value}."
    parts = [operation.description, arguments.get("description", ""), requirement, budget]
    return " ".join(part for part in parts if part)


def _list_security_schemes(operation: Operation) -> list[Json]:
    if operation.scope is Access.PUBLIC:
        return []
    if operation.scope is Access.SESSION:
        return [{"session": []}]
    return [{"token": []}, {"session": []}]


def _describe_body(operation: Operation, properties: Json, required: list[str]) -> Json:
    schema: Json = {"type": "object", "properties": properties, "required": required}
    if operation.body is Body.MULTIPART:
        schema["properties"] = {name: _describe_part(part) for name, part in properties.items()}
        return {"required": True, "content": {"multipart/form-data": {"schema": schema}}}
    content: Json = {"schema": {**schema, "additionalProperties": False}}
    if example := {name: value for name, value in operation.examples.items() if name in properties}:
        content["example"] = example
    return {"required": bool(required), "content": {"application/json": content}}


def _describe_part(schema: Json) -> Json:
    """Describe a part of a multipart form; files in it are raw bytes."""
    file = {"type": "string", "contentMediaType": "application/octet-stream"}
    kinds = [schema, *schema.get("anyOf", ())]
    if any(kind.get("contentEncoding") for kind in kinds) or "Upload" in str(schema.get("$ref", "")):
        descriptions = [kind["description"] for kind in kinds if "description" in kind]
        return file | ({"description": descriptions[0]} if descriptions else {})
    if schema.get("type") == "array" and "Upload" in str(schema.get("items")):
        return {"type": "array", "items": file, "maxItems": schema.get("maxItems", 1)}
    return schema


def _describe_responses(route: Route, operation: Operation, known: dict[str, Json]) -> Json:
    status = "201" if operation.creates else "200"
    content: Json = {}
    if operation.live:
        content = {kind: {"schema": {"type": "string"}} for kind in operation.media}
    for shape in () if operation.live else list_answer_types(operation):
        if shape in (Content, JsonList):
            binary = {"type": "string", "contentMediaType": "application/octet-stream"}
            json_type = "array" if shape is JsonList else "object"
            for kind in operation.media:
                content[kind] = {"schema": {"type": json_type} if kind == "application/json" else binary}
        elif shape is not types.NoneType:
            schema = known[_identify_shape(shape)]
            is_nullable = types.NoneType in list_answer_types(operation)
            content["application/json"] = {"schema": {"anyOf": [schema, {"type": "null"}]} if is_nullable else schema}
    responses: Json = {
        status if content else "204": {"description": "Done.", **({"content": content} if content else {})}
    }
    if any(hasattr(shape, "repeated") for shape in list_answer_types(operation)):
        responses["200"] = {**responses["201"], "description": "The record existed already; nothing changed."}
    if "application/octet-stream" in operation.media:
        file = {"*/*": content["application/octet-stream"]}
        responses["200"] = {"description": "Done.", "content": file}
        responses["206"] = {"description": "The part of the file that `Range` asks for.", "content": file}
    responses |= {
        str(status): {"$ref": _REFUSAL.format(name=name)} for status, name in group_by_status(route, operation)
    }
    return responses


def _collect_used_schemas(parts: list[Json], components: Json) -> Json:
    """Return only the schemas that are referenced, directly or through another one."""
    used: set[str] = set()
    waiting: list[Any] = list(parts)
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            reference = typing.cast(Json, node).get("$ref")
            if isinstance(reference, str) and reference.startswith(_REF.format(name="")):
                name = reference.rpartition("/")[2]
                if name not in used:
                    used.add(name)
                    waiting.append(components[name])
            waiting.extend(typing.cast(Json, node).values())
        elif isinstance(node, list):
            waiting.extend(typing.cast(list[Any], node))
    return {name: components[name] for name in sorted(used)}
