"""The OpenAPI document in the shape in which people read it, for the page and for `docs/reference/api.md`."""

import json

import msgspec

from ticketbox.operations.core.schemas import Json


class Field(msgspec.Struct, frozen=True):
    """One input: where it goes, what it may be."""

    name: str
    place: str
    kind: str
    required: bool
    description: str


class Entry(msgspec.Struct, frozen=True):
    """One operation as the reference shows it."""

    name: str
    method: str
    path: str
    summary: str
    description: str
    fields: list[Field]
    example: str | None
    answers: list[tuple[str, str]]


def groups(document: Json) -> list[tuple[str, list[Entry]]]:
    """The operations under their headings, in the registry's order."""
    found: dict[str, list[Entry]] = {tag["name"]: [] for tag in document["tags"]}
    for path, methods in document["paths"].items():
        for method, described in methods.items():
            found[described["tags"][0]].append(_entry(path, method, described, document))
    return [(name, entries) for name, entries in found.items() if entries]


def records(document: Json) -> list[tuple[str, str, list[Field]]]:
    """The named shapes that the operations use: name, description, fields. A choice has its values in words."""
    found: list[tuple[str, str, list[Field]]] = []
    for name, schema in document["components"]["schemas"].items():
        required = schema.get("required", ())
        fields = [
            Field(field, "field", _kind(part), field in required, _describe(part))
            for field, part in schema.get("properties", {}).items()
        ]
        choice = f" One of {_kind(schema)}." if "enum" in schema else ""
        found.append((name, schema.get("description", "") + choice, fields))
    return found


def _entry(path: str, method: str, described: Json, document: Json) -> Entry:
    fields = [
        Field(
            each["name"],
            each["in"],
            _kind(each["schema"]),
            each["required"],
            _describe(each) or _describe(each["schema"]),
        )
        for each in described.get("parameters", ())
    ]
    example = None
    for media, content in described.get("requestBody", {}).get("content", {}).items():
        schema = content["schema"]
        place = "part" if media.startswith("multipart") else "body"
        for name, part in schema["properties"].items():
            required = name in schema["required"]
            fields.append(Field(name, place, _kind(part), required, _describe(part)))
        if "example" in content:
            example = json.dumps(content["example"], indent=2, ensure_ascii=False)
    refused = document["components"]["responses"]
    answers = [
        (status, refused[each["$ref"].rpartition("/")[2]]["description"] if "$ref" in each else _answer(each))
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


def _answer(response: Json) -> str:
    content = response.get("content", {})
    shapes = [_kind(each["schema"]) for media, each in content.items() if media == "application/json"]
    return ", ".join(shapes or content) or "no body"


def _describe(schema: Json) -> str:
    """Return a schema's description; a nullable schema has it in the part that isn't null."""
    parts = [schema, *schema.get("anyOf", ())]
    return next((part["description"] for part in parts if "description" in part), "")


def _kind(schema: Json) -> str:
    """A schema in a few words: `string (1 to 300)`."""
    if "$ref" in schema:
        return schema["$ref"].rpartition("/")[2]
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_kind(part) for part in schema["anyOf"]))
    if "enum" in schema:
        return " | ".join(str(each) for each in schema["enum"])
    kind = schema.get("type", "any")
    if "prefixItems" in schema:
        return f"[{', '.join(map(_kind, schema['prefixItems']))}]"
    if kind == "array":
        return (
            f"list of {_kind(schema['items'])}{_bounds(schema, 'minItems', 'maxItems')}"
            if "items" in schema
            else "list"
        )
    if schema.get("contentMediaType"):
        return "file"
    if kind == "string":
        return (schema.get("format") or "string") + _bounds(schema, "minLength", "maxLength")
    return f"{kind}{_bounds(schema, 'minimum', 'maximum')}"


def _bounds(schema: Json, low: str, high: str) -> str:
    least, most = schema.get(low), schema.get(high)
    if least is None and most is None:
        return ""
    if most is None:
        return f" (from {least:,})"
    return f" (up to {most:,})" if least is None else f" ({least:,} to {most:,})"
