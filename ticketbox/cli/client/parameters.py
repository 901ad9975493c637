"""Options and arguments of a command, from the input of an operation."""

import re
import sys
from collections.abc import Collection, Mapping
from typing import Any, cast

import click
import msgspec
from msgspec import inspect

from ticketbox.operations.core.registry import Operation

_STDIN_FROM = 1_000  # a text that may be longer can be read from standard input
_GENERATED = {"idempotency_key"}


class Field(msgspec.Struct, frozen=True):
    """A field of an operation's input, as the command line accepts it. `type` is without null and metadata."""

    name: str
    type: inspect.Type
    description: str
    required: bool
    multiple: bool

    @property
    def flag(self) -> str:
        """The name of its option: `project_id` is `--project`, a list of `labels` is `--label`."""
        return "--" + self._word.replace("_", "-")

    @property
    def metavar(self) -> str:
        """The name of its argument in the help."""
        return self._word.upper()

    @property
    def _word(self) -> str:
        word = self.name.removesuffix("_id")
        return word.removesuffix("s") if self.multiple else word

    @property
    def is_long(self) -> bool:
        """Whether `-` means standard input."""
        return isinstance(self.type, inspect.StrType) and (self.type.max_length or 0) > _STDIN_FROM


def list_fields(operation: Operation) -> list[Field]:
    """List the fields that a command line can express: texts, numbers, booleans, choices, and lists of texts."""
    found: list[Field] = []
    arguments = inspect.type_info(operation.arguments)
    assert isinstance(arguments, inspect.StructType)
    for field in arguments.fields:
        kind, description = _unwrap(field.type)
        multiple = isinstance(kind, inspect.ListType)
        if isinstance(kind, inspect.ListType):
            kind = _unwrap(kind.item_type)[0]
        if isinstance(kind, _SCALARS) and field.name not in _GENERATED:
            found.append(Field(field.name, kind, description, field.required, multiple))
    return found


_SCALARS = (
    inspect.StrType, inspect.IntType, inspect.FloatType, inspect.BoolType, inspect.EnumType, inspect.DateTimeType,
    inspect.DateType,
)  # fmt: skip


def _unwrap(kind: inspect.Type) -> tuple[inspect.Type, str]:
    """Return a type without its metadata and null, and its description; the outer description takes precedence."""
    if isinstance(kind, inspect.Metadata):
        inner, below = _unwrap(kind.type)
        schema = cast(dict[str, Any], kind.extra_json_schema or {})  # pyright: ignore[reportUnknownMemberType]
        return inner, schema.get("description", below)
    if isinstance(kind, inspect.UnionType):
        parts = [part for part in kind.types if not isinstance(part, inspect.NoneType)]
        if len(parts) == 1:
            return _unwrap(parts[0])
    return kind, ""


def build_parameters(
    operation: Operation, arguments: Collection[str], hidden: Collection[str], optional: Collection[str] = ()
) -> list[click.Parameter]:
    """Build the parameters of a command: `arguments` by position, and an option for every other field.

    `hidden` fields are left out; `optional` ones aren't required, even if the operation requires them.
    """
    fields = {field.name: field for field in list_fields(operation)}
    found: list[click.Parameter] = [
        click.Argument(
            [name], metavar=fields[name].metavar, type=_build_type(fields[name]), required=name not in optional
        )
        for name in arguments
    ]
    for field in fields.values():
        if field.name in arguments or field.name in hidden:
            continue
        found.append(_build_option(field, fields, required=field.required and field.name not in optional))
    return found


def _build_option(field: Field, fields: Mapping[str, Field], *, required: bool) -> click.Option:
    text = _use_flags(field.description, fields)
    if field.is_long:
        text = f"{text} `-` reads standard input.".strip()
    if field.multiple:
        text = f"{text} Can be used several times.".strip()
    names = [field.flag, field.name]
    if isinstance(field.type, inspect.BoolType):
        names[0] = f"{field.flag}/--no-{field.flag[2:]}"
        return click.Option(names, default=None, help=text, required=required)
    return click.Option(names, type=_build_type(field), multiple=field.multiple, help=text, required=required)


def _build_type(field: Field) -> click.ParamType[Any] | None:
    kind = field.type
    if isinstance(kind, inspect.EnumType):
        return click.Choice([str(each.value) for each in kind.cls])
    if isinstance(kind, inspect.IntType):
        return click.IntRange(kind.ge, kind.le)
    if isinstance(kind, inspect.FloatType):
        return click.FloatRange(kind.ge, kind.le)
    return click.STRING


def _use_flags(description: str, fields: Mapping[str, Field]) -> str:
    """Replace the names of fields by those of options: `column_id` by `--column`."""
    names = "|".join(sorted((name for name in fields if "_" in name), key=len, reverse=True))
    return re.sub(rf"`?\b({names})\b`?", lambda match: fields[match[1]].flag, description) if names else description


def collect_arguments(operation: Operation, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the operation's arguments that have a value; a long text `-` is read from standard input."""
    fields = {field.name: field for field in list_fields(operation)}
    found: dict[str, Any] = {}
    for name, value in given.items():
        if value is None or value == ():
            continue
        if value == "-" and fields[name].is_long:
            found[name] = sys.stdin.read().rstrip("\n")
        else:
            found[name] = list(value) if isinstance(value, tuple) else value  # pyright: ignore[reportUnknownArgumentType]
    return found
