"""Actions from the calls of a trace."""

from ticketbox.domain.captures.actions import ActionEntry, ActionKind
from ticketbox.domain.captures.imports.keys import name_key
from ticketbox.domain.captures.imports.recording import classify_value, clip_url
from ticketbox.domain.captures.imports.selectors import describe_located
from ticketbox.domain.captures.imports.trace_events import TraceEvent

_CLASSES = {"Frame", "Page", "ElementHandle"}
_VALUES = {"selectOption": "option", "setInputFiles": "file"}
_CLICKS = {"click": 1, "tap": 1, "check": 1, "uncheck": 1, "mouseClick": 1, "dblclick": 2}
_OTHERS = {
    "reload": ActionKind.NAVIGATE,
    "goBack": ActionKind.NAVIGATE,
    "goForward": ActionKind.NAVIGATE,
    "mouseWheel": ActionKind.SCROLL,
    "setViewportSize": ActionKind.RESIZE,
}


def build_action(event: TraceEvent, moment: float) -> ActionEntry | None:
    """Build the action of a call; None for one that a person doesn't do, such as an expectation."""
    if event.class_name not in _CLASSES:
        return None
    given = event.params
    target = describe_located(given.selector) if given.selector else None
    method = event.method
    if method in _VALUES:
        return ActionEntry(0, moment, ActionKind.CHANGE, target, _VALUES[method])
    if method in _CLICKS:
        return ActionEntry(0, moment, ActionKind.CLICK, target, repeat=_CLICKS[method])
    if method in _OTHERS:
        return ActionEntry(0, moment, _OTHERS[method])
    match method:
        case "goto":
            return ActionEntry(0, moment, ActionKind.NAVIGATE, url=clip_url(given.url))
        case "fill":
            return ActionEntry(0, moment, ActionKind.INPUT, target, classify_value(given.value))
        case "type" | "keyboardType" | "keyboardInsertText":
            return ActionEntry(0, moment, ActionKind.INPUT, target, classify_value(given.text))
        case "press" | "keyboardPress":
            key = name_key(given.key)
            if key is None:  # a character
                return ActionEntry(0, moment, ActionKind.INPUT, target, classify_value(given.key))
            return ActionEntry(0, moment, ActionKind.KEY, target, key=key)
        case _:
            return None
