"""Copies of a replay's nodes without anything that could run or load, and without secrets.

The player also has a sandbox and a Content Security Policy (docs/operate/security.md, "Replays"); this is the layer
that doesn't depend on them. The shapes are those of rrweb 2.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, cast

from ticketbox.domain.captures.intake.processor_time import ProcessorTime
from ticketbox.domain.captures.redaction.redactor import Redactor
from ticketbox.domain.captures.redaction.secret_values import REDACTED
from ticketbox.domain.captures.replay.css import remove_loads

Json = dict[str, Any]

DOCUMENT, DOCUMENT_TYPE, ELEMENT, TEXT, CDATA, COMMENT = range(6)
MASK = "*"
MAX_MASK = 10
PLACEHOLDER = "noscript"  # the player hides it, and later changes still find the node

_NO_LIMIT = 1 << 30
_SPLIT_MARK = "/* rr_split */"  # the player takes it out and joins what is beside it
_NO_TAGS: frozenset[str] = frozenset()
_TAGS_OF_TEXTS = frozenset(("style", "textarea", PLACEHOLDER))
_TAG = re.compile(r"[A-Za-z][A-Za-z0-9._:-]*")
_ATTRIBUTE = re.compile(r"[A-Za-z_:][A-Za-z0-9_:.-]*")
_FRAGMENT = re.compile(r"#[^\s\"'<>]*")
_PICTURE = re.compile(r"data:image/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]*")
_SCHEME = re.compile(r"[\x00-\x20]*(?:javascript|vbscript|data)[\x00-\x20]*:", re.IGNORECASE)
_LENGTH = re.compile(r"-?[0-9.]{1,12}(?:px)?")
_REMOVED_TAGS = frozenset((
    "script", "noscript", "object", "embed", "applet", "base", "meta", "link", "frame", "frameset", "fencedframe",
    "portal", "webview", "animate", "animatecolor", "animatemotion", "animatetransform", "set", "discard", "handler",
    "listener",
))  # fmt: skip
_REMOVED_ATTRIBUTES = frozenset((
    "srcdoc", "srcset", "imagesrcset", "action", "formaction", "ping", "background", "poster", "data", "codebase",
    "classid", "code", "archive", "manifest", "profile", "cite", "longdesc", "lowsrc", "dynsrc", "xml:base", "nonce",
    "integrity", "http-equiv", "is", "autofocus", "autoplay", "target", "sandbox", "allow", "csp", "download",
))  # fmt: skip
_ADDRESSES = frozenset(("href", "xlink:href", "src"))
_TEXTS = ("aria-", "title", "alt", "placeholder", "class", "id")
_LENGTHS = frozenset(("rr_width", "rr_height", "rr_scrollLeft", "rr_scrollTop"))
_BUTTON_TYPES = frozenset(("button", "submit", "reset", "checkbox", "radio"))
_HOLDS_NO_VALUE = frozenset(("button", "li", "meter", "progress", "data", "param"))


def mask_text(text: str) -> str:
    """Mask what was entered; the mask reveals its length only up to 10 characters."""
    return MASK * min(len(text), MAX_MASK)


class NodeCopier:
    """Copies the nodes of one replay. It remembers the elements whose texts aren't shown as they are.

    Raises PayloadTooLarge if copying takes too long, and KeyError, TypeError or ValueError for an invalid node.
    """

    def __init__(self, redactor: Redactor, limit: ProcessorTime) -> None:
        self._redactor = redactor
        self._limit = limit
        self._tags: dict[int, frozenset[str]] = {}
        self._label = ""  # the text before the next one, which may name a secret

    def forget(self) -> None:
        """Forget all elements: a full snapshot begins with new ones."""
        self._tags.clear()

    def copy_text(self, text: str) -> str:
        """Redact a text of any length."""
        return self._redactor.redact_text(text, _NO_LIMIT)

    def copy_css(self, css: str) -> str:
        """Redact a text of a style sheet, and remove what it loads."""
        self._limit.check(len(css))
        return remove_loads(self.copy_text(css.replace(_SPLIT_MARK, " ")))

    def copy_tree(self, root: Json, parent: int | None = None) -> Json:
        """Copy a node and everything in it; `parent` is the id of the element that it is added to.

        The children are taken out of their lists, so that memory doesn't hold the whole tree twice.
        """
        self._label = ""
        copies: list[Json] = []
        waiting: list[tuple[list[Json], int | None, list[Json]]] = [([root], parent, copies)]
        while waiting:
            nodes, above, siblings = waiting[-1]
            if not nodes:
                waiting.pop()
                continue
            copy, children = self._copy_node(nodes.pop(), above)
            siblings.append(copy)
            if children:
                children.reverse()
                waiting.append((children, copy["id"], copy["childNodes"]))
        return copies[0]

    def copy_text_of(self, node: int, text: str) -> str:
        """Copy the new text of a text node."""
        return self._copy_text_inside(self._tags.get(node, _NO_TAGS), text)

    def copy_changes(self, node: int, attributes: Json) -> Json:
        """Copy the changed attributes of an element; null removes one, and `style` may be an object."""
        tags = self._tags.get(node, _NO_TAGS)
        if PLACEHOLDER in tags:
            return {}
        copy = self._copy_attributes(next(iter(tags), ""), attributes, is_known=False)
        copy |= {name: None for name, value in attributes.items() if value is None and _is_harmless_name(name)}
        style: Any = attributes.get("style")
        if isinstance(style, dict):
            copy["style"] = dict(self._copy_declarations(cast(Json, style)))
        return copy

    def _copy_node(self, node: Json, parent: int | None) -> tuple[Json, list[Json]]:
        self._limit.check(64)
        kind, key = node["type"], _require_integer(node["id"])
        copy: Json = {"type": kind, "id": key}
        if node.get("rootId") is not None:
            copy["rootId"] = _require_integer(node["rootId"])
        copy |= {name: True for name in ("isShadow", "isShadowHost") if node.get(name) is True}
        if kind == ELEMENT:
            children = self._fill_element(copy, node)
        elif kind == DOCUMENT:
            children = node["childNodes"]
            copy["childNodes"] = []
            if children and node.get("compatMode") == "BackCompat":
                copy["compatMode"] = "BackCompat"
        elif kind == TEXT:
            children = []
            self._fill_text(copy, node, self._tags.get(parent, _NO_TAGS) if parent is not None else _NO_TAGS)
        elif kind == DOCUMENT_TYPE:
            return copy | {"name": "html", "publicId": "", "systemId": ""}, []
        elif kind in (CDATA, COMMENT):
            return copy | {"type": COMMENT, "textContent": ""}, []
        else:
            raise ValueError("unknown kind of node")
        return copy, children

    def _fill_text(self, copy: Json, node: Json, above: frozenset[str]) -> None:
        if node.get("isStyle") is True:
            above = above | {"style"}
            copy["isStyle"] = True
        copy["textContent"] = self._copy_text_inside(above, node["textContent"], self._label)
        self._label = node["textContent"].strip() or self._label
        for tag in above & _TAGS_OF_TEXTS:
            self._remember_tag(copy["id"], tag)

    def _remember_tag(self, node: int, tag: str) -> None:
        """Remember the tag of an element, or of the element that a text is in; an id may come with several."""
        known = self._tags.get(node)
        self._tags[node] = _build_tag_set(tag) if known is None else known | {tag}

    def _copy_text_inside(self, above: frozenset[str], text: str, label: str = "") -> str:
        if PLACEHOLDER in above:
            return ""
        if "textarea" in above:
            return mask_text(text)
        if "style" in above:
            return "\n" + self.copy_css(text)
        return self._redactor.redact_after((label,), text, _NO_LIMIT)

    def _fill_element(self, copy: Json, node: Json) -> list[Json]:
        tag: str = node["tagName"]
        attributes: Json = node["attributes"]
        children: list[Json] = node["childNodes"]
        lower = tag.lower() if _TAG.fullmatch(tag) else "span"
        if lower == "link" and _is_style_sheet(attributes):
            lower = tag = "style"
            children = []
        if lower in _REMOVED_TAGS:
            lower = tag = PLACEHOLDER
            attributes = {}
        elif node.get("isSVG") is True:
            copy["isSVG"] = True
        copy["tagName"] = tag if _TAG.fullmatch(tag) else "span"
        copy["attributes"] = self._copy_attributes(lower, attributes, is_known=True)
        copy["childNodes"] = []
        self._remember_tag(copy["id"], lower)
        return children

    def _copy_attributes(self, tag: str, attributes: Json, *, is_known: bool) -> Json:
        copy: Json = {}
        for name, value in attributes.items():
            if not _is_harmless_name(name):
                continue
            if isinstance(value, bool):
                if name.isalpha() and name not in _ADDRESSES:
                    copy[name] = value
            elif isinstance(value, str | int | float):
                clean = self._copy_attribute(tag, name, str(value), attributes if is_known else {})
                if clean is not None:
                    copy[name] = clean
        return copy

    def _copy_attribute(self, tag: str, name: str, value: str, others: Json) -> str | None:
        """Return the attribute's value as it may be shown, or None if it may not."""
        lower = name.lower()
        if name == "_cssText":
            return self.copy_css(value)
        if lower.startswith("rr_"):
            return _copy_player_attribute(name, value)
        if lower in _ADDRESSES:
            return _copy_address(tag, lower, value)
        if lower == "style":
            return self.copy_css(value)
        if lower == "value" and tag not in _HOLDS_NO_VALUE and others.get("type") not in _BUTTON_TYPES:
            return mask_text(value)
        if _SCHEME.match(re.sub(r"[\t\r\n]", "", value)):
            return None
        if lower.startswith("data-"):
            return self._copy_data(lower, value)
        is_text = lower.startswith(_TEXTS)
        return self.copy_text(value) if is_text or "(" not in value else self.copy_css(value)

    def _copy_data(self, name: str, value: str) -> str:
        """Redact a value that a page keeps for its scripts, also because of its name."""
        pair = f'{name.removeprefix("data-")}="{value}"'
        return self.copy_text(value) if self.copy_text(pair) == pair else REDACTED

    def _copy_declarations(self, style: Json) -> Iterator[tuple[str, Any]]:
        """Copy changed declarations: a value, a value with its priority, or false for one that was removed."""
        for name, value in style.items():
            if value is False:
                yield name, False
            elif isinstance(value, str):
                yield name, self.copy_css(value)
            elif isinstance(value, list):
                text, *priority = cast(list[str], value)
                yield name, [self.copy_css(text), "important" if priority == ["important"] else ""]


@lru_cache(1_000)
def _build_tag_set(tag: str) -> frozenset[str]:
    """Return the set of one tag, the same for all of its elements."""
    return frozenset((tag,))


def _is_style_sheet(attributes: Json) -> bool:
    """Whether a link is a style sheet; while it loads, its text is missing, and comes later as a changed attribute."""
    return isinstance(attributes.get("_cssText"), str) or "stylesheet" in str(attributes.get("rel")).lower().split()


def _is_harmless_name(name: str) -> bool:
    lower = name.lower()
    return bool(_ATTRIBUTE.fullmatch(name)) and not lower.startswith("on") and lower not in _REMOVED_ATTRIBUTES


def _copy_player_attribute(name: str, value: str) -> str | None:
    """Copy an attribute that the player interprets."""
    if name in _LENGTHS:
        return value if _LENGTH.fullmatch(value) else None
    if name == "rr_open_mode":
        return value if value in ("modal", "non-modal") else None
    return value if name == "rr_dataURL" and _PICTURE.fullmatch(value) else None


def _copy_address(tag: str, name: str, value: str) -> str | None:
    if _FRAGMENT.fullmatch(value):
        return value
    if name == "src":
        return value if tag == "img" and _PICTURE.fullmatch(value) else None
    return "#" if tag in ("a", "area") else None


def _require_integer(value: Any) -> int:
    if type(value) is not int:
        raise TypeError("a node's id must be an integer")
    return value
