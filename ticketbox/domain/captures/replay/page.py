"""The recorded page at a moment of its replay, as far as it can be said in words."""

from collections.abc import Iterator
from typing import Any, cast

from ticketbox.domain.captures.summaries.overview import clip_line

Json = dict[str, Any]

ELEMENT, TEXT = 2, 3
MAX_TEXT = 120  # characters
_SILENT = frozenset(("style", "noscript", "script", "head", "title", "template", "svg", "option", "datalist"))
_NOUNS = {
    "a": "link", "alert": "alert", "alertdialog": "dialog", "button": "button", "dialog": "dialog", "h1": "heading",
    "h2": "heading", "h3": "heading", "h4": "heading", "li": "item", "link": "link", "listitem": "item", "menu": "menu",
    "option": "option", "progressbar": "progress bar", "row": "row", "status": "status", "tab": "tab", "tr": "row",
    "tooltip": "tooltip",
}  # fmt: skip
_FIELDS = frozenset(("input", "textarea", "select"))
_NAMES = ("aria-label", "placeholder", "title", "alt", "name")


class _Node:
    __slots__ = ("attributes", "children", "parent", "tag", "text")

    def __init__(self, parent: int | None, tag: str, text: str, attributes: Json) -> None:
        self.parent = parent
        self.tag = tag
        self.text = text
        self.attributes = attributes
        self.children: list[int] = []


class ReplayedPage:
    """The nodes of a page, changed by the events of its replay. Nodes that it doesn't have are ignored."""

    def __init__(self) -> None:
        self._nodes: dict[int, _Node] = {}
        self._root: int | None = None

    def is_loaded(self) -> bool:
        """Whether there was a full snapshot."""
        return self._root is not None

    def load(self, tree: Json) -> None:
        """Begin with a full snapshot."""
        self._nodes.clear()
        self._root = tree["id"]
        self._insert(tree, None, None)

    def add(self, parent: int, following: int | None, tree: Json) -> None:
        """Add a node before another one, or at the end."""
        if parent in self._nodes:
            self.remove(tree["id"])
            self._insert(tree, parent, following)

    def remove(self, key: int) -> None:
        """Remove a node and everything in it."""
        node = self._nodes.get(key)
        if node is None:
            return
        if node.parent is not None and node.parent in self._nodes:
            siblings = self._nodes[node.parent].children
            if key in siblings:
                siblings.remove(key)
        waiting = [key]
        while waiting:
            gone = self._nodes.pop(waiting.pop(), None)
            waiting += gone.children if gone else []

    def set_text(self, key: int, text: str) -> None:
        """Change a text node."""
        if node := self._nodes.get(key):
            node.text = text

    def set_attributes(self, key: int, changed: Json) -> None:
        """Change attributes of an element; null removes one."""
        node = self._nodes.get(key)
        if node is None:
            return
        style = changed.get("style")
        if isinstance(style, dict):  # only the declarations that changed
            changed = changed | {"style": _keep_display(node.attributes.get("style"), cast(Json, style))}
        node.attributes = {name: value for name, value in (node.attributes | changed).items() if value is not None}

    def has(self, key: int) -> bool:
        """Whether the page has a node."""
        return key in self._nodes

    def find_parent(self, key: int) -> int:
        """Return the element that a node is in; 0 for the page itself."""
        return self._nodes[key].parent or 0

    def list_ancestors(self, key: int) -> Iterator[int]:
        """List a node and the elements that it is in, innermost first."""
        current: int | None = key
        while current is not None and (node := self._nodes.get(current)):
            yield current
            current = node.parent

    def is_shown(self, key: int) -> bool:
        """Whether a node can be seen, as far as tags and attributes say it."""
        return not any(_is_silent(self._nodes[each]) for each in self.list_ancestors(key))

    def read_text(self, key: int | None = None, limit: int = MAX_TEXT) -> str:
        """Return the text that a node shows, by default all of the page, on one line."""
        parts: list[str] = []
        length = 0
        for part in self._list_texts(self._root if key is None else key):
            parts.append(part)
            length += len(part) + 1
            if length > limit:
                break
        return clip_line(" ".join(parts), limit)

    def name_kind(self, key: int) -> str:
        """Name what a node is, by the innermost element that has a word: "button"; an empty text if there is none."""
        for each in self.list_ancestors(key):
            node = self._nodes[each]
            if noun := _NOUNS.get(str(node.attributes.get("role", ""))) or _NOUNS.get(node.tag):
                return noun
            if node.tag not in {"", "b", "i", "em", "span", "strong", "small", "code"}:
                break
        return ""

    def has_state(self, key: int, name: str) -> bool:
        """Whether an attribute of an element says yes: it is there, and isn't "false"."""
        node = self._nodes.get(key)
        return node is not None and name in node.attributes and node.attributes[name] not in ("false", False)

    def _insert(self, tree: Json, parent: int | None, following: int | None) -> None:
        waiting: list[tuple[Json, int | None, int | None]] = [(tree, parent, following)]
        while waiting:
            each, above, before = waiting.pop()
            key: int = each["id"]
            attributes = cast(Json, each.get("attributes") or {})
            text = each.get("textContent") or "" if each["type"] == TEXT else ""
            self._nodes[key] = _Node(above, str(each.get("tagName", "")).lower(), text, attributes)
            if above is not None:
                siblings = self._nodes[above].children
                siblings.insert(siblings.index(before) if before in siblings else len(siblings), key)
            waiting += [(child, key, None) for child in reversed(each.get("childNodes") or [])]

    def _list_texts(self, key: int | None) -> Iterator[str]:
        waiting = [] if key is None else [key]
        while waiting:
            node = self._nodes.get(waiting.pop())
            if node is None or _is_silent(node):
                continue
            if text := " ".join(node.text.split()):
                yield text
            if node.tag in _FIELDS and (name := _name_field(node)):
                yield f"[{name}]"
            waiting += reversed(node.children)


def _name_field(node: _Node) -> str:
    attributes = node.attributes
    if attributes.get("type") == "hidden":
        return ""
    if attributes.get("type") in {"submit", "button", "reset"}:
        return str(attributes.get("value", ""))
    return next((str(attributes[name]) for name in _NAMES if attributes.get(name)), "field")


def _is_silent(node: _Node) -> bool:
    attributes = node.attributes
    if node.tag in _SILENT or "hidden" in attributes or attributes.get("aria-hidden") == "true":
        return True
    return "display:none" in str(attributes.get("style") or "").replace(" ", "")


def _keep_display(style: Any, changed: Json) -> str:
    """Return the declarations of an element after a change, as far as they can hide it."""
    if "display" not in changed:
        return str(style or "")
    value: Any = changed["display"]
    return f"display:{value[0] if isinstance(value, list) else value}"
