"""The OpenAPI document in a form for people: for the page `/api/docs`, and for the MCP tools in the documentation."""

import json

import msgspec

from ticketbox.operations.core.schemas import Json


class Field(msgspec.Struct, frozen=True):
    """One input: its place in the request, and its type."""

    name: str
    place: str
    kind: str
    required: bool
    description: str


class Entry(msgspec.Struct, frozen=True):
    """One operation, as listed in the reference."""

    name: str
    method: str
    path: str
    summary: str
    description: str
    fields: list[Field]
    example: str | None
    answers: list[tuple[str, str]]


def list_groups(document: Json) -> list[tuple[str, list[Entry]]]:
    """Group the operations under their headings, in the registry's order."""
    groups: dict[str, list[Entry]] = {tag["name"]: [] for tag in document["tags"]}
    for path, methods in document["paths"].items():
        for method, described in methods.items():
            groups[described["tags"][0]].append(_build_entry(path, method, described, document))
    return [(name, entries) for name, entries in groups.items() if entries]


def list_records(document: Json) -> list[tuple[str, str, list[Field]]]:
    """List the named schemas: name, description, fields. The description of an enum lists its values."""
    records: list[tuple[str, str, list[Field]]] = []
    for name, schema in document["components"]["schemas"].items():
        required = schema.get("required", ())
        fields = [
            Field(field, "field", _format_type(part), field in required, _get_description(part))
            for field, part in schema.get("properties", {}).items()
        ]
        choice = f" One of {_format_type(schema)}." if "enum" in schema else ""
        records.append((name, schema.get("description", "") + choice, fields))
    return records


def _build_entry(path: str, method: str, described: Json, document: Json) -> Entry:
    fields = [
        Field(
            each["name"],
            each["in"],
            _format_type(each["schema"]),
            each["required"],
            _get_description(each) or _get_description(each["schema"]),
        )
        for each in described.get("parameters", ())
    ]
    example = None
    for media, content in described.get("requestBody", {}).get("content", {}).items():
        schema = content["schema"]
        place = "part" if media.startswith("multipart") else "body"
        for name, part in schema["properties"].items():
            required = name in schema["required"]
            fields.append(Field(name, place, _format_type(part), required, _get_description(part)))
        if "example" in content:
            example = json.dumps(content["example"], indent=2, ensure_ascii=False)
    refused = document["components"]["responses"]
    answers = [
        (status, refused[each["$ref"].rpartition("/")[2]]["description"] if "$ref" in each else _describe_answer(each))
        for status, each in described["responses"].items()
    ]
    return Entry(
        name=described["operationId"],
        method=method.upper(),
        path=document["servers"][0]["url"].rpartition("/api")[1] + "/v1" + path,
        summary=described["summary"],
        description=described["description"],
        fields=fields,
        example=example,
        answers=answers,
    )


def _describe_answer(response: Json) -> str:
    content = response.get("content", {})
    shapes = [_format_type(each["schema"]) for media, each in content.items() if media == "application/json"]
    return ", ".join(shapes or content) or "no body"


def _get_description(schema: Json) -> str:
    """Return a schema's description; a nullable schema has it in the part that isn't null."""
    parts = [schema, *schema.get("anyOf", ())]
    return next((part["description"] for part in parts if "description" in part), "")


def _format_type(schema: Json) -> str:
    """Format a schema in a few words: `string (1 to 300)`."""
    if "$ref" in schema:
        return schema["$ref"].rpartition("/")[2]
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_format_type(part) for part in schema["anyOf"]))
    if "enum" in schema:
        return " | ".join(str(each) for each in schema["enum"])
    kind = schema.get("type", "any")
    if "prefixItems" in schema:
        return f"[{', '.join(map(_format_type, schema['prefixItems']))}]"
    if kind == "array":
        return (
            f"list of {_format_type(schema['items'])}{_format_bounds(schema, 'minItems', 'maxItems')}"
            if "items" in schema
            else "list"
        )
    if schema.get("contentMediaType"):
        return "file"
    if kind == "string":
        return (schema.get("format") or "string") + _format_bounds(schema, "minLength", "maxLength")
    return f"{kind}{_format_bounds(schema, 'minimum', 'maximum')}"


def _format_bounds(schema: Json, low: str, high: str) -> str:
    least, most = schema.get(low), schema.get(high)
    if least is None and most is None:
        return ""
    if most is None:
        return f" (from {least:,})"
    return f" (up to {most:,})" if least is None else f" ({least:,} to {most:,})"
