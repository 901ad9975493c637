"""Mentions in a text: `@` and a member's display name (docs/use/notifications.md)."""

import re
import unicodedata
from collections.abc import Iterator, Mapping

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore

MAX_MENTIONS = 50
MAX_CHARACTERS = 20_000

# Letters of scripts that are written without spaces between words, or whose suffixes follow a name without one: Thai,
# Lao, Myanmar, Khmer, Hangul, kana and Han. web/src/app/tickets/text/mentions.ts has the same.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3130-\u318f\u3400-\u4dbf"
    "\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_AT = re.compile(rf"(?:(?<=[{_UNSPACED}])|(?<![\w@\uff20/.]))[@\uff20](?=\w)")
_END = re.compile(rf"(?![^\W_]|[@\uff20]\w)|(?=[{_UNSPACED}])")


def find_mentions(text: str, names: Mapping[int, str]) -> set[int]:
    """Find the keys of the people whose names follow an `@`, ignoring case, where the app shows them as mentions.

    So not in code, in the words of a link, or after a backslash. A first name is enough where only one person has it.
    The longest matching name wins; everyone with that name is mentioned. Only the first fifty `@` of the first 20,000
    characters are checked.
    """
    text = unicodedata.normalize("NFC", text[:MAX_CHARACTERS])
    known = _list_spellings(names)
    longest = sorted(known, key=len, reverse=True)
    folded = text.casefold()
    if not _AT.search(text) or not any(name in folded for name in longest):
        return set()  # parsing Markdown takes longer
    mentioned: set[int] = set()
    for count, rest in enumerate(_list_candidates(text)):
        if count == MAX_MENTIONS:
            break
        for name in longest:
            if rest.startswith(name) and _END.match(rest, len(name)):
                mentioned |= known[name]
                break
    return mentioned


def _list_candidates(text: str) -> Iterator[str]:
    """List what follows each `@` that may begin a mention, in lower case."""
    for token in _markdown.parse(text):
        depth = 0
        for child in token.children or []:
            if child.type in {"link_open", "link_close"}:
                depth += child.nesting
            elif child.type == "text" and depth == 0:
                for match in _AT.finditer(child.content):
                    yield child.content[match.end() : match.end() + 201].casefold()


def _list_spellings(names: Mapping[int, str]) -> dict[str, set[int]]:
    known: dict[str, set[int]] = {}
    first_names: dict[str, set[int]] = {}
    for key, name in names.items():
        words = unicodedata.normalize("NFC", name).casefold().split()
        for spelling in {" ".join(words), "".join(words)}:
            known.setdefault(spelling, set()).add(key)
        first_names.setdefault(words[0], set()).add(key)
    return {first: keys for first, keys in first_names.items() if len(keys) == 1} | known


def _keep_escapes(state: StateCore) -> None:
    """Keep an `@` after a backslash apart from the text around it, so that it begins no mention."""
    for token in state.tokens:
        for child in token.children or []:
            if child.type == "text_special" and child.content in "@\uff20":
                child.type = "escaped"


# As the app renders texts, but for links that are recognised by their form: those have no `@` that begins a mention.
_markdown = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
_markdown.core.ruler.before("text_join", "escapes", _keep_escapes)
