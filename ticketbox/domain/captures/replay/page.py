"""The recorded page at a moment of its replay, as far as it can be said in words."""

from collections.abc import Callable, Iterator
from typing import Any, cast

from ticketbox.domain.captures.summaries.overview import clip_line

Json = dict[str, Any]

ELEMENT, TEXT = 2, 3
MAX_TEXT = 120  # characters
# Nodes that are looked at: a page can be made so that each of its many changes looks at all of them.
MAX_STEPS = 2_000_000
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
    """A node, linked to those beside it, so that a change of one of many siblings takes constant time."""

    __slots__ = ("attributes", "first", "following", "key", "last", "parent", "preceding", "tag", "text")

    def __init__(self, key: int, tag: str, text: str, attributes: Json) -> None:
        self.key = key
        self.tag = tag
        self.text = text
        self.attributes = attributes
        self.parent = self.first = self.last = self.preceding = self.following = cast(_Node | None, None)

    def insert(self, child: "_Node", before: "_Node | None") -> None:
        """Insert a new child before another one; at the end without one, or if it isn't a child."""
        if before is not None and before.parent is not self:
            before = None
        child.parent, child.following = self, before
        child.preceding = before.preceding if before else self.last
        self._link(child.preceding, child)
        self._link(child, before)

    def unlink(self) -> None:
        """Take the node out of its parent."""
        if self.parent is not None:
            self.parent._link(self.preceding, self.following)

    def _link(self, before: "_Node | None", after: "_Node | None") -> None:
        """Make two children neighbours; None is the beginning or the end."""
        if before is None:
            self.first = after
        else:
            before.following = after
        if after is None:
            self.last = before
        else:
            after.preceding = before

    def walk(self, skips: "Callable[[_Node], bool]") -> "Iterator[_Node]":
        """Yield the node and what is in it, in the order of the page, without what is in skipped nodes."""
        node = self
        while True:
            yield node
            if node.first is not None and not skips(node):
                node = node.first
                continue
            while node is not self and node.following is None:
                assert node.parent is not None
                node = node.parent
            if node is self or node.following is None:
                return
            node = node.following


class ReplayedPage:
    """The nodes of a page, changed by the events of its replay. Nodes that it doesn't have are ignored."""

    def __init__(self) -> None:
        self._nodes: dict[int, _Node] = {}
        self._root: _Node | None = None
        self._steps = MAX_STEPS

    @property
    def is_exhausted(self) -> bool:
        """Whether so many nodes were looked at that no more are."""
        return self._steps <= 0

    def is_loaded(self) -> bool:
        """Whether there was a full snapshot."""
        return self._root is not None

    def load(self, tree: Json) -> None:
        """Begin with a full snapshot."""
        self._nodes.clear()
        self._root = self._insert(tree, None, None)

    def add(self, parent: int, following: int | None, tree: Json) -> None:
        """Add a node before another one, or at the end."""
        self.remove(tree["id"])
        if node := self._nodes.get(parent):
            self._insert(tree, node, None if following is None else self._nodes.get(following))

    def remove(self, key: int) -> None:
        """Remove a node and everything in it."""
        node = self._nodes.get(key)
        if node is None:
            return
        node.unlink()
        for gone in node.walk(lambda _: False):
            if self._nodes.get(gone.key) is gone:
                del self._nodes[gone.key]

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
        parent = self._nodes[key].parent
        return 0 if parent is None else parent.key

    def list_ancestors(self, key: int) -> Iterator[int]:
        """List a node and the elements that it is in, innermost first."""
        return (node.key for node in self._walk_up(key))

    def is_shown(self, key: int) -> bool:
        """Whether a node can be seen, as far as tags and attributes say it."""
        return not any(map(_is_silent, self._walk_up(key)))

    def read_text(self, key: int | None = None, limit: int = MAX_TEXT) -> str:
        """Return the text that a node shows, by default all of the page, on one line."""
        parts: list[str] = []
        length = 0
        for part in self._list_texts(self._root if key is None else self._nodes.get(key)):
            parts.append(part)
            length += len(part) + 1
            if length > limit:
                break
        return clip_line(" ".join(parts), limit)

    def name_kind(self, key: int) -> str:
        """Name what a node is, by the innermost element that has a word: "button"; an empty text if there is none."""
        for node in self._walk_up(key):
            if noun := _NOUNS.get(str(node.attributes.get("role", ""))) or _NOUNS.get(node.tag):
                return noun
            if node.tag not in {"", "b", "i", "em", "span", "strong", "small", "code"}:
                break
        return ""

    def has_state(self, key: int, name: str) -> bool:
        """Whether an attribute of an element says yes: it is there, and isn't "false"."""
        node = self._nodes.get(key)
        return node is not None and name in node.attributes and node.attributes[name] not in ("false", False)

    def _insert(self, tree: Json, parent: _Node | None, following: _Node | None) -> _Node:
        top = _build_node(tree)
        waiting = [(tree, top)]
        if parent is not None:
            parent.insert(top, following)
        while waiting:
            each, node = waiting.pop()
            self._nodes[node.key] = node
            for child in cast(list[Json], each.get("childNodes") or []):
                inner = _build_node(child)
                node.insert(inner, None)
                waiting.append((child, inner))
        return top

    def _walk_up(self, key: int) -> Iterator[_Node]:
        node = self._nodes.get(key)
        while node is not None and self._steps > 0:
            self._steps -= 1
            yield node
            node = node.parent

    def _list_texts(self, top: _Node | None) -> Iterator[str]:
        for node in () if top is None else top.walk(_is_silent):
            self._steps -= 1
            if self._steps < 0:
                return
            if _is_silent(node):
                continue
            if text := " ".join(node.text.split()):
                yield text
            if node.tag in _FIELDS and (name := _name_field(node)):
                yield f"[{name}]"


def _build_node(tree: Json) -> _Node:
    text = tree.get("textContent") or "" if tree["type"] == TEXT else ""
    return _Node(tree["id"], str(tree.get("tagName", "")).lower(), text, cast(Json, tree.get("attributes") or {}))


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
