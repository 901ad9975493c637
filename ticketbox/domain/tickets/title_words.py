"""The words of titles, for finding tickets whose titles are similar, and what lists sort titles by."""

import re
import unicodedata

MAX_WORDS = 12
MAX_KEY = 80  # a cursor contains the key
# Words so common in titles that they say nothing about the subject.
_COMMON_WORDS = """
a an and are as at be but by can for from has have if in into is it its no not of off on or so than that the their then
there these this to was were when while with without
"""
_COMMON = frozenset(_COMMON_WORDS.split())
_WORD = re.compile(r"[^\W_]+")


def build_title_key(title: str) -> str:
    """Build the text that lists sort a title by: its first 80 characters, without case, accents and repeated spaces."""
    letters = (char for char in unicodedata.normalize("NFKD", title) if not unicodedata.combining(char))
    return " ".join("".join(letters).casefold().split())[:MAX_KEY]


def list_title_words(title: str) -> tuple[str, ...]:
    """List the first 12 different words of a title in lower case, without common words and single Latin letters."""
    words = _WORD.findall(unicodedata.normalize("NFC", title).lower())
    wanted = (word for word in words if word not in _COMMON and (len(word) > 1 or not word.isascii()))
    return tuple(dict.fromkeys(wanted))[:MAX_WORDS]


def compute_similarity(words: tuple[str, ...], other: tuple[str, ...]) -> float:
    """Compute how similar two titles are, from 0 to 1; 0 below a third of the words, or a single one of several."""
    shared = len(set(words) & set(other))
    if shared < min(2, len(words)) or 3 * shared < len(words):
        return 0.0
    return 2 * shared / (len(words) + len(other)) if shared else 0.0
