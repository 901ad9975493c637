"""The OpenAPI 3.1 document, made from the registry: the same Structs that check the input describe it."""

import types
import typing
from typing import Any

import msgspec

from ticketbox import __version__
from ticketbox.domain.limits import Budget
from ticketbox.domain.problems import FieldError
from ticketbox.domain.query import Span
from ticketbox.domain.scopes import Access, Scope
from ticketbox.operations.content import Content
from ticketbox.operations.registry import Body, Operation, Registry, Route
from ticketbox.operations.sessions import WithSession
from ticketbox.surfaces.links import links
from ticketbox.surfaces.refusals import answers, by_status
from ticketbox.surfaces.schemas import schemas

Json = dict[str, Any]

_REF = "#/components/schemas/{name}"
_REFUSAL = "#/components/responses/{name}"
_HEADERS = {
    "idempotency_key": (
        "Idempotency-Key",
        "Makes a repeat within 24 hours return the first answer.",
        {"type": "string", "minLength": 1, "maxLength": 200},
    ),
    "expected_version": (
        "If-Match",
        "The ETag of the ticket as it was read, or `*`.",
        {"type": "string", "pattern": '^("[1-9][0-9]{0,14}"|\\*)$'},
    ),
    "last_event": (
        "Last-Event-ID",
        "The id of the last event that came; browsers send it by themselves. It wins over `after`.",
        {"type": "string", "pattern": "^evt_[0-9a-z]{12}$"},
    ),
}
_TAGS = {
    "profile": "Account",
    "sessions": "Account",
    "tokens": "Account",
    "connected_apps": "Account",
    "companies": "Companies",
    "members": "Companies",
    "invitations": "Companies",
    "projects": "Projects",
    "columns": "Projects",
    "tickets": "Tickets",
    "details": "Tickets",
    "moves": "Tickets",
    "work": "Tickets",
    "assignments": "Tickets",
    "comments": "Tickets",
    "search": "Tickets",
    "similar": "Tickets",
    "captures": "Captures",
    "streams": "Captures",
    "assets": "Captures",
    "annotations": "Captures",
    "events": "Events",
    "webhooks": "Webhooks",
    "notifications": "Notifications",
}


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


def document(registry: Registry, public_url: str) -> Json:
    """The whole document, for a server at this address."""
    routed = list(registry.routed())
    shapes: list[Any] = [ProblemDocument]
    for _, operation in routed:
        shapes.append(operation.arguments)
        shapes += [shape for shape in results(operation) if shape not in {Content, types.NoneType}]
    made, components = schemas(shapes, _REF)
    known = dict(zip([_key(shape) for shape in shapes], made, strict=True))
    cookie = "__Host-ticketbox" if public_url.startswith("https://") else "ticketbox"
    paths: dict[str, Json] = {}
    for route, operation in routed:
        arguments = _resolve(known[_key(operation.arguments)], components)
        described = _operation(route, operation, arguments, known)
        if operation.creates:
            described["responses"]["201"]["links"] = links(registry, operation, results(operation)[0])
        paths.setdefault(route.path, {})[route.method.lower()] = described
    refused = answers(registry, {"$ref": _REF.format(name=ProblemDocument.__name__)})
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "ticketbox",
            "version": __version__,
            "summary": "A self-hosted ticket tracker for people and coding agents.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": f"{public_url}/api/v1"}],
        "tags": [{"name": name} for name in dict.fromkeys(_TAGS.values())],
        "paths": paths,
        "components": {
            "schemas": _used([paths, refused], components),
            "responses": refused,
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "description": "An API token: `tok_…`."},
                "session": {"type": "apiKey", "in": "cookie", "name": cookie},
            },
        },
    }


def results(operation: Operation) -> list[Any]:
    """The types of an operation's answer; a session's wrapper is taken off."""
    answer = operation.result
    if operation.finish is not None:
        answer = typing.get_type_hints(operation.finish)["return"]
    if typing.get_origin(answer) is WithSession:
        (answer,) = typing.get_args(answer)
    if typing.get_origin(answer) in {typing.Union, types.UnionType}:
        return list(typing.get_args(answer))
    return [types.NoneType if answer is None else answer]


def _key(shape: Any) -> str:
    return f"{getattr(shape, '__module__', '')}.{shape!r}"


def _resolve(schema: Json, components: Json) -> Json:
    reference = schema.get("$ref")
    return components[reference.rpartition("/")[2]] if reference else schema


def _operation(route: Route, operation: Operation, arguments: Json, known: dict[str, Json]) -> Json:
    properties: Json = arguments.get("properties", {})
    required = set(arguments.get("required", ()))
    in_path = {name for each in operation.routes for name in each.parameters}
    in_headers = [name for name in _HEADERS if name in properties]
    rest = {name: schema for name, schema in properties.items() if name not in in_path and name not in in_headers}
    parameters = [_parameter("path", name, properties[name], True, operation) for name in route.parameters]
    if operation.body is Body.NONE:
        parameters += [_parameter("query", name, schema, name in required, operation) for name, schema in rest.items()]
    parameters += [_header(name) for name in in_headers]
    described: Json = {
        "operationId": operation.name + ("" if route == operation.routes[0] else "_by_query"),
        "tags": [_TAGS[operation.noun]],
        "summary": operation.summary,
        "description": _description(operation, arguments),
        "security": _security(operation),
    }
    if parameters:
        described["parameters"] = parameters
    if operation.body is not Body.NONE and (rest or operation.body is Body.MULTIPART):
        described["requestBody"] = _body(operation, rest, sorted(required & rest.keys()))
    described["responses"] = _responses(route, operation, known)
    return described


def _parameter(place: str, name: str, schema: Json, required: bool, operation: Operation) -> Json:
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


def _header(name: str) -> Json:
    label, description, schema = _HEADERS[name]
    return {"name": label, "in": "header", "required": False, "description": description, "schema": schema}


def _description(operation: Operation, arguments: Json) -> str:
    needs = {
        Access.ANY: "Needs any valid credential.",
        Access.SESSION: "Needs a signed-in web session.",
        Access.PUBLIC: "Needs no credential.",
    }
    need = f"Needs the scope `{operation.scope}`." if isinstance(operation.scope, Scope) else needs[operation.scope]
    budget = "" if operation.budget is Budget.NONE else f"Counts as one of the {operation.budget.value}."
    parts = [operation.description, arguments.get("description", ""), need, budget]
    return " ".join(part for part in parts if part)


def _security(operation: Operation) -> list[Json]:
    if operation.scope is Access.PUBLIC:
        return []
    if operation.scope is Access.SESSION:
        return [{"session": []}]
    return [{"token": []}, {"session": []}]


def _body(operation: Operation, properties: Json, required: list[str]) -> Json:
    schema: Json = {"type": "object", "properties": properties, "required": required}
    if operation.body is Body.MULTIPART:
        schema["properties"] = {name: _part(part) for name, part in properties.items()}
        return {"required": True, "content": {"multipart/form-data": {"schema": schema}}}
    content: Json = {"schema": {**schema, "additionalProperties": False}}
    if example := {name: value for name, value in operation.examples.items() if name in properties}:
        content["example"] = example
    return {"required": bool(required), "content": {"application/json": content}}


def _part(schema: Json) -> Json:
    """A part of a form: files are raw bytes there, whatever they are elsewhere."""
    file = {"type": "string", "contentMediaType": "application/octet-stream"}
    kinds = [schema, *schema.get("anyOf", ())]
    if any(kind.get("contentEncoding") for kind in kinds) or "Upload" in str(schema.get("$ref", "")):
        told = [kind["description"] for kind in kinds if "description" in kind]
        return file | ({"description": told[0]} if told else {})
    if schema.get("type") == "array" and "Upload" in str(schema.get("items")):
        return {"type": "array", "items": file, "maxItems": schema.get("maxItems", 1)}
    return schema


def _responses(route: Route, operation: Operation, known: dict[str, Json]) -> Json:
    status = "201" if operation.creates else "200"
    content: Json = {}
    if operation.live:
        content = {kind: {"schema": {"type": "string"}} for kind in operation.media}
    for shape in () if operation.live else results(operation):
        if shape is Content:
            binary = {"type": "string", "contentMediaType": "application/octet-stream"}
            for kind in operation.media:
                content[kind] = {"schema": {"type": "object"} if kind == "application/json" else binary}
        elif shape is not types.NoneType:
            content["application/json"] = {"schema": known[_key(shape)]}
    responses: Json = {
        status if content else "204": {"description": "Done.", **({"content": content} if content else {})}
    }
    if operation.name == "create_capture":
        responses["200"] = {**responses["201"], "description": "The capture was there already."}
    if "application/octet-stream" in operation.media:
        responses["200"] = {"description": "Done.", "content": {"*/*": content["application/octet-stream"]}}
    responses |= {str(status): {"$ref": _REFUSAL.format(name=name)} for status, name in by_status(route, operation)}
    return responses


def _used(parts: list[Json], components: Json) -> Json:
    """Only the schemas that something points at, directly or by way of another."""
    found: set[str] = set()
    waiting: list[Any] = list(parts)
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            reference = typing.cast(Json, node).get("$ref")
            if isinstance(reference, str) and reference.startswith(_REF.format(name="")):
                name = reference.rpartition("/")[2]
                if name not in found:
                    found.add(name)
                    waiting.append(components[name])
            waiting.extend(typing.cast(Json, node).values())
        elif isinstance(node, list):
            waiting.extend(typing.cast(list[Any], node))
    return {name: components[name] for name in sorted(found)}
