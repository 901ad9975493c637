"""The names of pressed keys."""

import re

_MODIFIERS = {"Control": "Ctrl", "ControlOrMeta": "Ctrl", "Alt": "Alt", "Shift": "Shift", "Meta": "Meta"}


def name_key(pressed: str) -> str | None:
    """Name a key or a shortcut such as `Control+s` as captures do: `Ctrl+S`. None for a typed character."""
    *held, key = re.split(r"\+(?=.)", pressed)
    modifiers = [_MODIFIERS[each] for each in held if each in _MODIFIERS]
    if len(key) == 1:
        if not set(modifiers) - {"Shift"} or not key.isprintable() or key == " ":
            return None
        return "+".join([*modifiers, key.upper()])
    if not re.fullmatch(r"[A-Z][A-Za-z0-9]{1,18}", key) or key in _MODIFIERS:
        return None
    return "+".join([*modifiers, key])
