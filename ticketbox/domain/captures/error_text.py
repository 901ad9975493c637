"""The texts of errors: name and message, and what of them is the same each time."""

import json
import re
from pathlib import Path
from typing import Any, Protocol

# reproductions use them too; each looks only a few characters ahead: a word may be of any length
RULES: dict[str, Any] = json.loads(Path(__file__).with_name("messages.json").read_bytes())
_LEAD, _ADDRESS = re.compile(RULES["lead"]), re.compile(RULES["address"])
_CHANGING = re.compile(rf"\b(?:{RULES['id']}|0[xX][0-9a-fA-F]+|{RULES['hex']})\b|{RULES['number']}")


class NamedError(Protocol):
    """An error with a class and a message."""

    @property
    def name(self) -> str:
        """The class."""
        ...

    @property
    def message(self) -> str:
        """The message, possibly with the browser's lead."""
        ...


def format_error(entry: NamedError) -> str:
    """Return an error's class and message, without the browser's lead."""
    message = _LEAD.sub("", entry.message).strip()
    return message if not entry.name or message.startswith(entry.name) else f"{entry.name}: {message}"


def normalize_message(text: str) -> str:
    """Return the start of a message without what differs each time: numbers, ids, hashes and addresses."""
    text = _CHANGING.sub("#", _ADDRESS.sub("@", _LEAD.sub("", text)[: 4 * RULES["longest"]]))
    return " ".join(text.split())[: RULES["longest"]]
