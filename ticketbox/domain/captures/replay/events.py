"""Copies of a replay's events: what the player supports of rrweb 2, and nothing else of what was sent."""

from collections.abc import Callable, Sequence
from typing import Any, cast

import msgspec

from ticketbox.domain.captures.replay.nodes import Json, NodeCopier, mask_text

FULL_SNAPSHOT, INCREMENT, META = 2, 3, 4
MAX_SIDE = 20_000


class EventCopier:
    """Copies the events of one replay. Raises KeyError, TypeError, ValueError or AttributeError for an invalid one."""

    def __init__(self, nodes: NodeCopier) -> None:
        self._nodes = nodes
        self._increments: dict[int, Callable[[Json], Json | None]] = {
            0: self._copy_mutation,
            1: _copy_moves,
            2: lambda data: _copy_figures(data, ("type", "id", "x", "y", "pointerType")),
            3: lambda data: _copy_figures(data, ("id", "x", "y")),
            4: _copy_size,
            5: _copy_input,
            6: _copy_moves,
            8: self._copy_rules,
            12: _copy_moves,
            13: self._copy_declaration,
            14: _copy_selection,
            15: self._copy_adopted_sheets,
        }

    def copy_event(self, event: Json) -> Json | None:
        """Copy an event without its time; None for a kind that isn't replayed."""
        kind, data = event["type"], event["data"]
        if kind == FULL_SNAPSHOT:
            self._nodes.forget()
            offset = _copy_figures(data.get("initialOffset") or {}, ("left", "top"))
            copy: Json | None = {"node": self._nodes.copy_tree(data["node"]), "initialOffset": offset}
        elif kind == META:
            copy = {"href": self._nodes.copy_text(data["href"]), **_copy_size(data)}
        elif kind == INCREMENT and (build := self._increments.get(data["source"])):
            copy = build(data)
            if copy is not None:
                copy["source"] = data["source"]
        else:
            return None
        return None if copy is None else {"type": kind, "data": copy}

    def _copy_mutation(self, data: Json) -> Json:
        adds = [self._copy_addition(each) for each in data["adds"]]
        copy: Json = {
            "texts": [
                {"id": each["id"], "value": self._nodes.copy_text_of(each["id"], each["value"] or "")}
                for each in data["texts"]
            ],
            "attributes": [
                {"id": each["id"], "attributes": self._nodes.copy_changes(each["id"], each["attributes"])}
                for each in data["attributes"]
            ],
            "removes": [_copy_figures(each, ("parentId", "id", "isShadow")) for each in data["removes"]],
            "adds": adds,
        }
        return copy | ({"isAttachIframe": True} if data.get("isAttachIframe") is True else {})

    def _copy_addition(self, addition: Json) -> Json:
        copy = _copy_figures(addition, ("parentId", "nextId"))
        return {"nextId": None, **copy, "node": self._nodes.copy_tree(addition["node"], copy["parentId"])}

    def _copy_rules(self, data: Json) -> Json:
        copy = _copy_figures(data, ("id", "styleId"))
        if data.get("adds") is not None:
            copy["adds"] = [self._copy_rule(each) for each in data["adds"]]
        if data.get("removes") is not None:
            copy["removes"] = [_copy_place(each) for each in data["removes"]]
        for name in ("replace", "replaceSync"):
            if isinstance(data.get(name), str):
                copy[name] = self._nodes.copy_css(data[name])
        return copy

    def _copy_rule(self, rule: Json) -> Json:
        return {"rule": self._nodes.copy_css(rule["rule"]), **_copy_place(rule)}

    def _copy_declaration(self, data: Json) -> Json:
        copy = {**_copy_figures(data, ("id", "styleId")), **_copy_place(data)}
        if isinstance(data.get("set"), dict):
            change = data["set"]
            value = self._nodes.copy_css(_write_value(change["value"]))
            copy["set"] = {"property": str(change["property"]), "value": value}
            if change.get("priority") == "important":
                copy["set"]["priority"] = "important"
        if isinstance(data.get("remove"), dict):
            copy["remove"] = {"property": str(data["remove"]["property"])}
        return copy

    def _copy_adopted_sheets(self, data: Json) -> Json:
        copy: Json = {**_copy_figures(data, ("id",)), "styleIds": _keep_figures(data["styleIds"])}
        if data.get("styles") is not None:
            copy["styles"] = [
                {**_copy_figures(sheet, ("styleId",)), "rules": [self._copy_rule(rule) for rule in sheet["rules"]]}
                for sheet in data["styles"]
            ]
        return copy


def _copy_figures(data: Json, names: Sequence[str]) -> Json:
    """Copy the members that are numbers or booleans."""
    return {name: data[name] for name in names if isinstance(data.get(name), bool | int | float)}


def _keep_figures(values: list[Any]) -> list[int | float]:
    return [value for value in values if isinstance(value, int | float)]


def _copy_place(data: Json) -> Json:
    """Copy the place of a rule: a number, or the numbers of the rules that it is in."""
    index: Any = data.get("index")
    return (
        {"index": _keep_figures(cast(list[Any], index))} if isinstance(index, list) else _copy_figures(data, ("index",))
    )


def _write_value(value: Any) -> str:
    """Return the value of a declaration as text: pages set numbers, too, which the recorder passes on."""
    if value is None:
        return ""
    return msgspec.json.encode(value).decode() if isinstance(value, bool | int | float) else value


def _copy_size(data: Json) -> Json:
    return {name: max(1, min(MAX_SIDE, data[name])) for name in ("width", "height")}


def _copy_moves(data: Json) -> Json | None:
    positions = [_copy_figures(each, ("x", "y", "id", "timeOffset")) for each in data["positions"]]
    return {"positions": positions} if positions else None


def _copy_input(data: Json) -> Json:
    copy = _copy_figures(data, ("id", "isChecked"))
    return {"isChecked": False, **copy, "text": mask_text(data["text"])}


def _copy_selection(data: Json) -> Json:
    names = ("start", "startOffset", "end", "endOffset")
    return {"ranges": [_copy_figures(each, names) for each in data["ranges"]]}
