"""A person's actions as numbered steps in words: "1. Opened /cart", "2. Clicked button “Apply gift card”".

The extension writes the same words (web/src/recorder/actions/describe-action.ts); both are tested with
tests/domain/captures/steps.json.
"""

import re
from collections.abc import Sequence
from urllib.parse import urlsplit

from ticketbox.domain.captures.actions import ActionEntry, ActionKind, ActionTarget, Button, Dialog

MAX_NAME = 80  # characters
MAX_URL = 160

_ROLES = {
    "combobox": "combo box", "img": "image", "listitem": "list item", "menuitem": "menu item", "radio": "radio button",
    "searchbox": "search field", "spinbutton": "number field", "textbox": "field", "treeitem": "tree item",
}  # fmt: skip
_VALUES = {
    "color": "a color", "date": "a date", "email": "an email address", "number": "a number", "tel": "a phone number",
    "time": "a time", "url": "an address",
}  # fmt: skip
_NAVIGATIONS = {"back": "Went back to", "forward": "Went forward to", "reload": "Reloaded"}


class Step(ActionEntry, kw_only=True):
    """An action with its place among all actions of the capture, and in words."""

    number: int
    words: str


def build_steps(entries: Sequence[ActionEntry]) -> list[Step]:
    """Number actions and describe them."""
    return [
        Step(
            **{name: getattr(entry, name) for name in ActionEntry.__struct_fields__},
            number=number,
            words=describe_action(entry),
        )
        for number, entry in enumerate(entries, 1)
    ]


def describe_action(entry: ActionEntry) -> str:
    """Describe an action in words, in the past tense."""
    words = _describe(entry)
    if entry.repeat > 1 and not _is_double(entry):
        words = f"{words}, {entry.repeat:,} times"
    return f"{words} (by a script)" if entry.synthetic else words


def _describe(entry: ActionEntry) -> str:
    target = entry.target
    match entry.kind:
        case ActionKind.NAVIGATE:
            place = shorten_address(entry.url) if entry.url else "a page"
            return f"{_NAVIGATIONS.get(entry.value_kind or '', 'Opened')} {place}"
        case ActionKind.CLICK:
            held = f" with {entry.key}" if entry.key else ""
            return f"{_name_click(entry)} {_name_clicked(entry)}{held}"
        case ActionKind.DRAG:
            end = f" to {_name_element(entry.to)}" if isinstance(entry.to, ActionTarget) else ""
            return f"Dragged {_name_element(target)}{end}"
        case ActionKind.HOVER:
            return f"Hovered over {_name_element(target)}"
        case ActionKind.DIALOG:
            return _describe_dialog(entry)
        case ActionKind.INPUT:
            return _describe_input(entry.value_kind or "", target)
        case ActionKind.CHANGE:
            place = _name_field(target)
            if entry.value_kind == "option":
                return f"Selected an option in {place}"
            return f"Chose a file for {place}" if entry.value_kind == "file" else f"Changed {_name_element(target)}"
        case ActionKind.SUBMIT:
            return f"Submitted {_name_element(target)}"
        case ActionKind.KEY:
            place = f" in {_name_field(target)}" if target else ""
            return f"Pressed {entry.key or 'a key'}{place}"
        case _:
            return _describe_window(entry)


def _describe_window(entry: ActionEntry) -> str:
    match entry.kind:
        case ActionKind.SCROLL:
            return f"Scrolled {_name_element(entry.target)}"
        case ActionKind.VISIBILITY:
            return "Returned to the page" if entry.value_kind == "visible" else "Left the page"
        case _:
            return "Resized the window"


def _name_click(entry: ActionEntry) -> str:
    if entry.button is Button.RIGHT:
        return "Right-clicked"
    if entry.button is Button.MIDDLE:
        return "Middle-clicked"
    return "Double-clicked" if _is_double(entry) else "Clicked"


def _is_double(entry: ActionEntry) -> bool:
    return entry.kind is ActionKind.CLICK and entry.repeat == 2 and not entry.synthetic


def _name_clicked(entry: ActionEntry) -> str:
    return "a private field" if entry.value_kind == "private" else _name_element(entry.target)


def _describe_dialog(entry: ActionEntry) -> str:
    if entry.dialog is Dialog.ALERT:
        return "Closed an alert"
    dialog = "a prompt" if entry.dialog is Dialog.PROMPT else "a confirmation"
    if not entry.accepted:
        return f"Dismissed {dialog}"
    return f"Answered {dialog}" if entry.dialog is Dialog.PROMPT else f"Accepted {dialog}"


def _describe_input(value: str, target: ActionTarget | None) -> str:
    place = _name_field(target)
    kind, _, length = value.partition(" ")
    if kind == "private":
        return "Typed into a private field"
    if kind == "empty":
        return f"Cleared {place}"
    if kind in _VALUES:
        return f"Typed {_VALUES[kind]} into {place}"
    if not length:
        return f"Typed into {place}"
    return f"Typed {length} {'character' if length == '1' else 'characters'} into {place}"


def _name_field(target: ActionTarget | None) -> str:
    """Name a field by its label alone: what it is, is clear from what was done."""
    name = target and _clip(target.name)
    return f"“{name}”" if name else _name_element(target)


def _name_element(target: ActionTarget | None) -> str:
    if target is None:
        return "the page"
    role = "" if target.role is None else _ROLES.get(target.role, target.role)
    name = _clip(target.name) or _clip(target.text)
    if name:
        return f"{role} “{name}”".lstrip()
    place = target.test_id or (target.selectors[-1] if target.selectors else "")
    if place and not place.startswith("internal:"):  # Playwright's own notation
        return f"{role or 'element'} {_clip(place)}"
    role = role or "element"
    return f"{'an' if role[0] in 'aeiou' else 'a'} {role}"


def _clip(text: str | None) -> str:
    line = re.sub(r"\s+", " ", (text or "")[: 4 * MAX_NAME]).strip()
    return line if len(line) <= MAX_NAME else line[: MAX_NAME - 1] + "…"


def shorten_address(url: str) -> str:
    """Return the path, query and hash route of an address; all of it if it has no path."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url[:MAX_URL]
    route = f"#{parts.fragment}" if parts.fragment.startswith(("/", "!")) else ""
    path = parts.path + (f"?{parts.query}" if parts.query else "") + route if parts.netloc else url
    path = path or url
    return path if len(path) <= MAX_URL else path[: MAX_URL - 1] + "…"
