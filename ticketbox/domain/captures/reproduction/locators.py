"""Playwright locators of recorded elements, as a person writes them in TypeScript."""

import re
from collections.abc import Sequence
from urllib.parse import urlsplit

import msgspec
from msgspec import UNSET, UnsetType

from ticketbox.domain.captures.actions import ActionTarget

REDACTED = "[redacted]"

_MAX_NAME = 40
# without its end, a text reaches to that of the locator: looking for the end from each quote would take quadratic time
_STRING = re.compile(r""""((?:[^"\\]|\\.?)*)(?:"|\Z)|'((?:[^'\\]|\\.?)*)(?:'|\Z)""", re.DOTALL)
_TEXT = re.compile(r'(?:name=|text-is\(|label=)"((?:[^"\\]|\\.)*)"')
_LABEL = re.compile(r'internal:label="((?:[^"\\]|\\["\\])*)"s')
_QUOTED = re.compile(r'\[placeholder="((?:[^"\\]|\\["\\])*)"\]')
# A path of elements, as the recorder writes it: `#cart > li:nth-of-type(2)`.
_PLACE = re.compile(r"(?:#[\w-]+|[a-z][\w-]*(?::nth-of-type\(\d+\))?)(?: > [a-z][\w-]*(?::nth-of-type\(\d+\))?)*")
# What is a text in a CSS selector without escapes.
_FRAME_PATH = re.compile(r"[\w\-./~%!$&'(),*+;=:@]+")
# The roles that `getByRole` accepts (WAI-ARIA 1.2) and that people act on.
_ROLES = frozenset({
    "alert", "alertdialog", "article", "banner", "button", "cell", "checkbox", "columnheader", "combobox", "dialog",
    "document", "figure", "form", "grid", "gridcell", "group", "heading", "img", "link", "list", "listbox",
    "listitem", "log", "main", "menu", "menubar", "menuitem", "menuitemcheckbox", "menuitemradio", "meter",
    "navigation", "option", "progressbar", "radio", "radiogroup", "region", "row", "rowheader", "search",
    "searchbox", "separator", "slider", "spinbutton", "status", "switch", "tab", "table", "tablist", "tabpanel",
    "textbox", "toolbar", "tooltip", "tree", "treeitem",
})  # fmt: skip


def quote(text: str) -> str:
    """Quote a text for TypeScript, with the quotes that need fewer escapes."""
    inner = msgspec.json.encode(text).decode()[1:-1]
    for separator in "\u2028\u2029":
        inner = inner.replace(separator, f"\\u{ord(separator):x}")
    if text.count("'") > text.count('"'):
        return f'"{inner}"'
    inner = inner.replace('\\"', '"').replace("'", "\\'")
    return f"'{inner}'"


def write_locator(
    target: ActionTarget | None, frame: str | None = None, frame_path: Sequence[str] | UnsetType = UNSET
) -> str | None:
    """Write the best locator of an element: by role and name, then by those that the recorder found, best first.

    Those with data of the page, such as a number of likes, come last: another run has other data. Returns None if the
    record doesn't say which element it is.
    """
    if target is None:
        return None
    root = _write_root(frame, frame_path)
    whole = [each for each in target.selectors if REDACTED not in each]
    for selector in sorted(whole, key=lambda each: (_has_data(each), not each.startswith("role="))):
        return root + _write_selector(target, selector)
    if target.role in _ROLES and target.name and REDACTED not in target.name:
        return f"{root}.getByRole({quote(target.role)}, {{ name: {quote(target.name)}, exact: true }}).first()"
    if target.test_id and REDACTED not in target.test_id:
        return f"{root}.getByTestId({quote(target.test_id)}).first()"
    if target.text and REDACTED not in target.text:
        return f"{root}.getByText({quote(target.text)}, {{ exact: true }}).first()"
    return None


def find_place(target: ActionTarget | None, frame: str | None) -> str | None:
    """Find the CSS selector of an element's place in its document, if the page itself is that document."""
    if target is None or frame is not None or not target.selectors:
        return None
    last = target.selectors[-1]
    return None if REDACTED in last or not _PLACE.fullmatch(last) else last


def list_texts(selector: str) -> list[str]:
    """List the texts in a locator."""
    return [re.sub(r"\\(.)", r"\1", one or other) for one, other in _STRING.findall(selector)]


def _write_root(frame: str | None, path: Sequence[str] | UnsetType) -> str:
    if frame is None:
        return "page"
    if not path or any(REDACTED in each for each in path):
        return f"page.frameLocator({quote(_select_frame(frame))})"
    return "page" + "".join(f".frameLocator({quote(each)})" for each in path)


def _has_data(selector: str) -> bool:
    """Whether a locator has a text that is rather data of the page than a name: a number, or a long text."""
    texts: list[str] = _TEXT.findall(selector)
    return any(
        len(each) > _MAX_NAME or sum(map(str.isdigit, each)) > 2 or not any(map(str.isalpha, each)) for each in texts
    )


def _write_selector(target: ActionTarget, selector: str) -> str:
    if selector.startswith("role=") and target.role in _ROLES and target.name:
        return f".getByRole({quote(target.role)}, {{ name: {quote(target.name)}, exact: true }})"
    if selector.startswith("[data-testid=") and target.test_id:
        return f".getByTestId({quote(target.test_id)})"
    if match := _LABEL.fullmatch(selector):
        label = re.sub(r'\\(["\\])', r"\1", match[1])
        return f".getByLabel({quote(label)}, {{ exact: true }})"
    if match := _QUOTED.fullmatch(selector):
        placeholder = re.sub(r'\\(["\\])', r"\1", match[1])
        return f".getByPlaceholder({quote(placeholder)}, {{ exact: true }})"
    return f".locator({quote(selector)})"


def _select_frame(url: str) -> str:
    try:
        path = urlsplit(url).path
    except ValueError:
        path = ""
    return f'iframe[src*="{path}"]' if path.strip("/") and _FRAME_PATH.fullmatch(path) else "iframe"
