"""Characters that a terminal would obey, or that reorder text (CVE-2021-42574): shown as escapes, or refused."""

import json
import re

# C1 controls, line and paragraph separators, the bidirectional embeddings, overrides and isolates, the deprecated
# controls of form and swapping, and interlinear annotation
REORDERING = r"\x80-\x9f\u2028-\u202e\u2066-\u206f\ufff9-\ufffb"
# Tags hide text. Those of flags follow a black flag or another tag, and are escaped with it, which people can read.
TAGS = r"\U000e0000-\U000e007f"
UNSAFE = re.compile(rf"[\x00-\x08\x0b-\x1f\x7f{REORDERING}\u061c\u200e\u200f\ufeff\ud800-\udfff{TAGS}]")
# Zero-width joiner and non-joiner: parts of emoji, and of words in Persian and Indic scripts
JOINERS = "\u200d\u200c"
# U+FFFD replaces a character that was already damaged
_IN_LINES = re.compile(rf"[\x00-\x1f\x7f{REORDERING}\ufffd]")


def escape_unsafe(text: str) -> str:
    r"""Return a text with its unsafe characters as escapes such as `\x1b`."""
    return UNSAFE.sub(lambda match: match[0].encode("unicode_escape", "surrogatepass").decode(), text)


def escape_unsafe_json(text: str) -> str:
    """Return JSON with its unsafe characters as JSON escapes; the value stays the same."""
    return UNSAFE.sub(lambda match: json.dumps(match[0])[1:-1], text)


def remove_unsafe(text: str, replacement: str = "") -> str:
    """Remove the characters that a line mustn't have."""
    return _IN_LINES.sub(replacement, text)
