"""Copies of a replay's events: what the player supports of rrweb 2, and nothing else of what was sent."""

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar, cast

import msgspec

from ticketbox.domain.captures.replay.nodes import Json, NodeCopier, mask_text

FULL_SNAPSHOT, INCREMENT, META = 2, 3, 4
MAX_SIDE = 20_000

T = TypeVar("T")


class EventCopier:
    """Copies the events of one replay. Raises KeyError, TypeError, ValueError or AttributeError for an invalid one."""

    def __init__(self, nodes: NodeCopier) -> None:
        self._nodes = nodes

    def copy_event(self, event: Json) -> Json | None:
        """Copy an event without its time; None for a kind that isn't replayed."""
        kind, data = event["type"], event["data"]
        if kind == FULL_SNAPSHOT:
            self._nodes.forget()
            offset = _copy_figures(data.get("initialOffset") or {}, ("left", "top"))
            copy: Json | None = {"node": self._nodes.copy_tree(data["node"]), "initialOffset": offset}
        elif kind == META:
            copy = {"href": self._nodes.copy_text(data["href"]), **_copy_size(data)}
        elif kind == INCREMENT:
            copy = self._copy_increment(data["source"], data)
            if copy is not None:
                copy["source"] = data["source"]
        else:
            return None
        return None if copy is None else {"type": kind, "data": copy}

    def _copy_increment(self, source: int, data: Json) -> Json | None:
        """Copy what changed; None if nothing did, or for a source that isn't replayed."""
        match source:
            case 0:
                return self._copy_mutation(data)
            case 1 | 6 | 12:
                return _copy_moves(data)
            case 2:
                return _copy_figures(data, ("type", "id", "x", "y", "pointerType"))
            case 3:
                return _copy_figures(data, ("id", "x", "y"))
            case 4:
                return _copy_size(data)
            case 5:
                return _copy_input(data)
            case 8:
                return self._copy_rules(data)
            case 13:
                return self._copy_declaration(data)
            case 14:
                return _copy_selection(data)
            case 15:
                return self._copy_adopted_sheets(data)
            case _:
                return None

    def _copy_mutation(self, data: Json) -> Json:
        adds = [self._copy_addition(each) for each in take(data["adds"])]
        copy: Json = {
            "texts": [
                {"id": each["id"], "value": self._nodes.copy_text_of(each["id"], each["value"] or "")}
                for each in take(data["texts"])
            ],
            "attributes": [
                {"id": each["id"], "attributes": self._nodes.copy_changes(each["id"], each["attributes"])}
                for each in take(data["attributes"])
            ],
            "removes": [_copy_figures(each, ("parentId", "id", "isShadow")) for each in take(data["removes"])],
            "adds": adds,
        }
        return copy | ({"isAttachIframe": True} if data.get("isAttachIframe") is True else {})

    def _copy_addition(self, addition: Json) -> Json:
        copy = _copy_figures(addition, ("parentId", "nextId"))
        return {"nextId": None, **copy, "node": self._nodes.copy_tree(addition["node"], copy["parentId"])}

    def _copy_rules(self, data: Json) -> Json:
        copy = _copy_figures(data, ("id", "styleId"))
        if data.get("adds") is not None:
            copy["adds"] = [self._copy_rule(each) for each in take(data["adds"])]
        if data.get("removes") is not None:
            copy["removes"] = [_copy_place(each) for each in take(data["removes"])]
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
            copy["styles"] = [self._copy_sheet(sheet) for sheet in take(data["styles"])]
        return copy

    def _copy_sheet(self, sheet: Json) -> Json:
        return {**_copy_figures(sheet, ("styleId",)), "rules": [self._copy_rule(each) for each in take(sheet["rules"])]}


def take(items: list[T]) -> Iterator[T]:
    """Yield the items of a list while it is emptied, so that memory doesn't hold them and their copies."""
    items.reverse()
    while items:
        yield items.pop()


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
    positions = [_copy_figures(each, ("x", "y", "id", "timeOffset")) for each in take(data["positions"])]
    return {"positions": positions} if positions else None


def _copy_input(data: Json) -> Json:
    copy = _copy_figures(data, ("id", "isChecked"))
    return {"isChecked": False, **copy, "text": mask_text(data["text"])}


def _copy_selection(data: Json) -> Json:
    names = ("start", "startOffset", "end", "endOffset")
    return {"ranges": [_copy_figures(each, names) for each in take(data["ranges"])]}
